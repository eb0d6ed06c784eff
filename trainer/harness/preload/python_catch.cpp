#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/inside.h>
#include <mishap/trainer/harness/preload/python_api.h>
#include <mishap/trainer/harness/preload/python_catch.h>
#include <mishap/trainer/harness/preload/python_frames.h>

namespace mishap::preload {
namespace {

// As in Python's pystate.h, never changed since 2.2.
enum TraceEvent { kCall, kException, kLine, kReturn };

/// The frame in which the error stands. Only for comparing.
struct Watch {
  const void* frame = nullptr;
  /// The line at which it went on is known.
  bool has_line = false;
};

constinit Watch watch{};
// The one in which the fault struck; only for comparing.
constinit const void* frame_of_fault = nullptr;

program::CaseReport& report() noexcept { return agent.control->report; }

void tell(void* frame) {
  std::array<char, 1024> room;
  report().catch_python = keep_text(write_python_frame(frame, room));
  report().catch_kind.store(
      static_cast<std::uint32_t>(program::CatchKind::kPython));
}

// An error is being handled: an `except`, a `finally` or the end of a `with`
// is not over yet.
bool is_handling(const PythonApi& api) {
  PythonApi::Object type = nullptr;
  PythonApi::Object value = nullptr;
  PythonApi::Object traceback = nullptr;
  api.handled_error(&type, &value, &traceback);
  const bool is_one = (type != nullptr && type != api.none) ||
                      (value != nullptr && value != api.none);
  for (const PythonApi::Object object : {type, value, traceback}) {
    if (object != nullptr) {
      api.drop(object);
    }
  }
  return is_one;
}

void end() {
  watch = {};
  frame_of_fault = nullptr;
  python_api()->set_trace(nullptr, nullptr);
}

int on_event(PythonApi::Object, PythonApi::Object frame, int what,
             PythonApi::Object argument) {
  const Inside inside;
  const PythonApi* const api = python_api();
  if (api == nullptr) {
    return 0;
  }
  switch (what) {
    case kException:
      if (watch.frame == nullptr || !watch.has_line) {
        // It has come out of the function that was called here.
        watch = {frame, false};
      }
      break;
    case kLine:
      if (watch.frame == nullptr && frame == frame_of_fault) {
        // The call has come back without an error of Python's.
        end();
      }
      if (frame != watch.frame) {
        break;
      }
      if (!watch.has_line) {
        // The line at which a `with` ends, too: what comes next tells whether
        // the error goes on from there.
        watch.has_line = true;
        tell(frame);
      } else if (!is_handling(*api)) {
        end();
      }
      break;
    case kReturn:
      if (frame != watch.frame) {
        break;
      }
      if (argument == nullptr) {
        watch = {};
        report().catch_kind.store(
            static_cast<std::uint32_t>(program::CatchKind::kNone));
      } else {
        if (!watch.has_line) {
          tell(frame);
        }
        end();
      }
      break;
    default:
      break;
  }
  return 0;
}

// Somebody else's trace function stays.
bool is_traced(const PythonApi& api) {
  const PythonApi::Object ask = api.sys_object("gettrace");
  if (ask == nullptr) {
    return true;
  }
  const PythonApi::Object traced = api.call_without_arguments(ask);
  const bool is_one = traced != api.none;
  if (traced != nullptr) {
    api.drop(traced);
  }
  return is_one;
}

}  // namespace

void watch_python_catch() noexcept {
  const PythonHold hold;
  if (hold.thread() == nullptr || is_traced(hold.api())) {
    return;
  }
  const PythonApi& api = hold.api();
  if (const PythonApi::Object frame = api.thread_frame(hold.thread())) {
    frame_of_fault = frame;
    api.drop(frame);
    api.set_trace(on_event, nullptr);
  }
}

}  // namespace mishap::preload
