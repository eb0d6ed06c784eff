#include <cxxabi.h>
#include <mishap/collector/demangle.h>
#include <mishap/collector/resolve/capture.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/catch_site.h>
#include <mishap/trainer/harness/preload/code_places.h>
#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/fault.h>
#include <mishap/trainer/harness/preload/hit_stack.h>
#include <mishap/trainer/harness/preload/inside.h>
#include <mishap/trainer/harness/preload/thrown_text.h>
#include <unwind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>

namespace mishap::preload {
namespace {

// Where the exception of the fault stands.
enum class State : std::uint8_t {
  // None was thrown yet.
  kNone,
  kInFlight,
  // In a handler that may still rethrow it.
  kHeld,
  // A handler has ended with it.
  kKept,
};

constinit std::atomic<State> state{State::kNone};
// The object, never looked into.
constinit std::atomic<const void*> followed{nullptr};
// A stream has it, which goes on with a bad state in its place.
constinit std::atomic<bool> is_held_by_stream{false};

program::CaseReport& report() noexcept { return agent.control->report; }

void set_kind(program::CatchKind kind) noexcept {
  report().catch_kind.store(static_cast<std::uint32_t>(kind));
}

/// The head of an exception in libstdc++ up to the part that the unwinder
/// knows; an exception_ptr's rethrow puts one of its own before the object.
struct Head {
  // Of a dependent one the object, else its type.
  void* first;
  void* destroy;
  void* unexpected;
  void* terminate;
  Head* next;
  int handler_count;
  int switch_value;
  const unsigned char* action;
  const unsigned char* language_data;
  void* landing;
  void* adjusted;
  _Unwind_Exception unwinding;
};
struct Globals {
  Head* caught;
};

bool is_cxx(const _Unwind_Exception& unwinding) noexcept {
  // "GNUCC++", then 0 or 1.
  return unwinding.exception_class >> 8 == 0x474e5543432b2b;
}

const void* object_of(const Head& head) noexcept {
  const bool is_dependent = (head.unwinding.exception_class & 0xff) == 1;
  return is_dependent ? head.first : &head + 1;
}

const Head& head_of(const void* unwinding) noexcept {
  return *reinterpret_cast<const Head*>(static_cast<const char*>(unwinding) -
                                        offsetof(Head, unwinding));
}

bool is_of_runtime(const PlaceFound& place) noexcept {
  const program::Control& control = *agent.control;
  return place.place.module < program::kModules &&
         std::strstr(control.modules[place.place.module].path.bytes.data(),
                     "/libstdc++.so") != nullptr;
}

void blame_caller() noexcept {
  program::CaseReport& out = report();
  out.catch_frame_count = out.hit_frame_count;
  out.catch_frames = out.hit_frames;
  set_kind(program::CatchKind::kIgnored);
}

// The exception whose handler this thread is in, innermost.
const Head* caught_here() noexcept {
  const auto* const globals =
      reinterpret_cast<const Globals*>(abi::__cxa_get_globals());
  const Head* const head = globals->caught;
  return head != nullptr && is_cxx(head->unwinding) ? head : nullptr;
}

bool is_followed_here() noexcept {
  const Head* const head = caught_here();
  return head != nullptr && object_of(*head) == followed.load();
}

void tell_first(void* object, const std::type_info& type,
                const void* caller) noexcept {
  program::CaseReport& out = report();
  if (out.has_thrown.load() != 0) {
    return;
  }
  try {
    copy_text(collector::type_name(type), out.thrown_type);
  } catch (const std::exception&) {
    copy_text(type.name(), out.thrown_type);
  }
  out.thrown_text.bytes[0] = '\0';
  if (const char* const text = text_of_thrown(object, type)) {
    copy_text(text, out.thrown_text);
  }
  collector::RawTrace trace;
  collector::capture_stack_from(trace, caller);
  out.throw_frame_count = places_of(trace, out.throw_frames);
  out.has_thrown.store(1);
}

}  // namespace

void begin_catch_watch(bool is_ignored_so_far) noexcept {
  state.store(State::kNone);
  followed.store(nullptr);
  is_held_by_stream.store(false);
  program::CaseReport& out = report();
  out.catch_frame_count = 0;
  out.catch_python = program::kNoText;
  if (is_ignored_so_far) {
    blame_caller();
  } else {
    set_kind(program::CatchKind::kNone);
  }
}

void on_throw(void* object, const std::type_info& type,
              const void* caller) noexcept {
  if (!has_struck() || !is_thread_of_fault()) {
    return;
  }
  const Inside inside;
  const State now = state.load();
  const bool is_translated = now == State::kHeld && is_followed_here();
  if (now != State::kNone && !is_translated) {
    return;
  }
  tell_first(object, type, caller);
  followed.store(object);
  state.store(State::kInFlight);
  set_kind(program::CatchKind::kNone);
}

void on_begin_catch(void* unwinding, const void* caller) noexcept {
  if (!has_struck() || state.load() != State::kInFlight ||
      !is_cxx(*static_cast<const _Unwind_Exception*>(unwinding)) ||
      object_of(head_of(unwinding)) != followed.load()) {
    return;
  }
  const Inside inside;
  state.store(State::kHeld);
  program::CaseReport& out = report();
  const PlaceFound place = place_of(reinterpret_cast<std::uintptr_t>(caller));
  is_held_by_stream.store(is_of_runtime(place));
  if (place.is_own || is_held_by_stream.load()) {
    // A nothrow allocation of ours, which has no other way to fail; or a stream
    // of the standard library, whose user may yet see its state and throw.
    blame_caller();
    return;
  }
  collector::RawTrace trace;
  collector::capture_stack_from(trace, caller);
  out.catch_frame_count = places_of(trace, out.catch_frames);
  set_kind(program::CatchKind::kHandler);
}

void on_end_catch() noexcept {
  if (!has_struck() || state.load() != State::kHeld || !is_followed_here()) {
    return;
  }
  // Below zero it was rethrown; above one an outer handler has it too.
  if (caught_here()->handler_count == 1) {
    state.store(is_held_by_stream.load() ? State::kNone : State::kKept);
  }
}

void on_uncaught() noexcept {
  if (has_struck() && is_thread_of_fault()) {
    state.store(State::kKept);
    set_kind(program::CatchKind::kNone);
  }
}

void on_rethrow() noexcept {
  if (has_struck() && state.load() == State::kHeld && is_followed_here()) {
    state.store(State::kInFlight);
    set_kind(program::CatchKind::kNone);
  }
}

void on_rethrow_of(const void* object) noexcept {
  if (has_struck() && object != nullptr && object == followed.load()) {
    state.store(State::kInFlight);
    set_kind(program::CatchKind::kNone);
  }
}

}  // namespace mishap::preload
