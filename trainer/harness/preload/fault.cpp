#include <mishap/faultinject/armed_rule.h>
#include <mishap/faultinject/firing_label.h>
#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/stderr_line.h>
#include <mishap/faultinject/throw_type.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/catch_site.h>
#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/fault.h>
#include <mishap/trainer/harness/preload/inside.h>
#include <mishap/trainer/harness/preload/points.h>
#include <mishap/trainer/harness/preload/python_catch.h>
#include <mishap/trainer/harness/preload/torch_watch.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <stdexcept>
#include <string>

namespace mishap::preload {
namespace {

using faultinject::ActionKind;

struct Fault {
  program::CaseEntry entry;
  const faultinject::ArmedTerm* term = nullptr;
  std::atomic<pid_t> thread{0};
  std::atomic<bool> is_disk_full{false};
};

constinit Fault fault{};
constinit std::atomic<int (*)(const char*, const char*)> torch_thrower{nullptr};

void throw_torch(const char* type, std::string_view text) {
  const std::string message(text);
  if (const auto thrower = torch_thrower.load()) {
    thrower(type, message.c_str());
  }
  throw std::runtime_error(message);
}

void perform(const faultinject::ArmedTerm& term, std::uint32_t point) {
  const std::string_view name = point_name(point);
  std::string text;
  {
    const Inside inside;
    text = term.text_at(name);
  }
  term.action().perform(
      {name, text, term.number(), term.throw_type(), nullptr});
}

// Whether the call itself has to fail: no exception comes by our doing.
bool is_left_to_the_call(ActionKind kind) noexcept {
  return kind == ActionKind::kErrno || kind == ActionKind::kShort ||
         kind == ActionKind::kTorn;
}

}  // namespace

void set_fault(std::uint32_t case_number) {
  fault.entry = agent.control->cases[case_number];
  const std::string_view action = view_of(fault.entry.action);
  try {
    // Never destroyed: a term refers to the one that it was read from.
    const auto* const read =
        new faultinject::Term(faultinject::parse_action(action));
    fault.term = new faultinject::ArmedTerm(*read);
  } catch (const std::exception& error) {
    faultinject::write_stderr_line({"mishap: ", action, ": ", error.what()});
    _exit(2);
  }
}

bool has_fault() noexcept { return fault.term != nullptr; }

bool is_first_hit(std::uint32_t point, std::uint64_t hit) noexcept {
  return fault.entry.point == point && fault.entry.hit == hit;
}

bool has_struck() noexcept {
  return fault.thread.load(std::memory_order_relaxed) != 0;
}

bool is_thread_of_fault() noexcept {
  return fault.thread.load(std::memory_order_relaxed) == gettid();
}

bool strikes_again(std::uint32_t point) noexcept {
  return (fault.entry.is_persistent != 0 && point == fault.entry.point) ||
         (fault.is_disk_full.load(std::memory_order_relaxed) &&
          point == kIoWrite.number());
}

void tell_strike(std::uint32_t point, std::uint64_t hit, const HitStack& stack,
                 std::uint32_t path) noexcept {
  program::CaseReport& report = agent.control->report;
  report.hit_frame_count = places_of(stack.trace, report.hit_frames);
  report.hit_python = stack.python.keep();
  report.path = path;
  faultinject::publish_label(point_name(point), hit, fault.term->action_text(),
                             0, -1, nullptr);
  fault.thread.store(gettid());
  forget_native_backtraces();
  const ActionKind kind = fault.term->action().kind;
  begin_catch_watch(is_left_to_the_call(kind));
  if (is_left_to_the_call(kind) || kind == ActionKind::kThrow) {
    watch_python_catch();
  }
  report.has_fired.store(1);
}

Strike perform_fault(std::uint32_t point) {
  if (fault.is_disk_full.load(std::memory_order_relaxed)) {
    return {ActionKind::kErrno, ENOSPC};
  }
  const faultinject::ArmedTerm& term = *fault.term;
  if (term.action().kind == ActionKind::kTorn) {
    fault.is_disk_full.store(true);
  }
  if (term.action().perform == nullptr) {
    return {term.action().kind, term.number()};
  }
  if (term.action().kind == ActionKind::kThrow) {
    // What it takes to make the exception is no hit.
    const Inside inside;
    perform(term, point);
  }
  perform(term, point);
  return {};
}

void set_thrower(int (*thrower)(const char*, const char*)) noexcept {
  torch_thrower.store(thrower);
}

void register_torch_types() {
  for (const char* const type : {"c10", "c10_index", "c10_value", "c10_type",
                                 "c10_not_implemented", "oom"}) {
    faultinject::register_throw_type(
        type, [type](std::string_view text) { throw_torch(type, text); });
  }
}

}  // namespace mishap::preload
