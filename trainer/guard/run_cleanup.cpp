#include <cxxabi.h>
#include <mishap/trainer/guard/guarded_call.h>
#include <mishap/trainer/guard/run.h>

#include <algorithm>
#include <chrono>
#include <new>

namespace mishap {
namespace {

using Outcome = CleanupNote::Outcome;

constexpr std::array<std::string_view, 4> kStepNames = {"tell", "release",
                                                        "teardown", "finalize"};
constexpr std::string_view kRestore = "restore_process_state";

}  // namespace

void Run::fulfil(std::string_view step, DutyKind kind) {
  // Looked for anew each time: a duty may take on another one.
  while (Duty* const duty = next_due(kind)) {
    {
      const auto locked = watch_.lock();
      duty->done = true;
    }
    do_duty(step, *duty);
  }
}

void Run::do_duty(std::string_view step, Duty& duty) {
  constexpr std::array<Hook, 4> kHooks = {Hook::kOnException, Hook::kTeardown,
                                          Hook::kTeardown, Hook::kFinalize};
  const Component component = duty.component;
  const Hook hook = component == Component()
                        ? Hook::kNone
                        : kHooks[static_cast<std::size_t>(duty.kind)];
  const auto action = std::move(duty.action);
  isolate(step, component, hook, [&] { action(*this); });
}

void Run::call_owed(std::string_view step, Hook hook, Component component,
                    const std::function<void()>& piece) {
  const Hook outer_hook = place_.hook;
  const Component outer_component = place_.component;
  std::exception_ptr in_front;
  Place in_front_place;
  try {
    enter(hook, component);
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    in_front = std::current_exception();
    in_front_place = place_;
  }
  try {
    piece();
    leave(outer_hook, outer_component);
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    note_throw();
    return_to(outer_hook, outer_component);
    if (!in_front) {
      throw;
    }
    note(SecondaryError{std::current_exception(), thrown_place_, step});
  }
  if (in_front) {
    thrown_ = in_front;
    thrown_place_ = in_front_place;
    std::rethrow_exception(in_front);
  }
}

void Run::isolate(std::string_view step, Component component, Hook hook,
                  const std::function<void()>& piece) {
  const Stage stage = std::exchange(place_.stage, Stage::kTeardown);
  const auto perform = [&] {
    if (hook == Hook::kNone) {
      piece();
    } else {
      call_owed(step, hook, component, piece);
    }
  };
  CleanupNote done;
  done.step = step;
  done.component = component;
  done.hook = hook;
  std::exception_ptr first_error;
  {
    // To restore the state of the process takes a few calls of the system.
    CleanupWatch::Piece watched(watch_, done, step != kRestore);
    try {
      perform();
    } catch (const abi::__forced_unwind&) {
      throw;
    } catch (...) {
      const std::exception_ptr error = std::current_exception();
      done.outcome = Outcome::kFailed;
      if (failure_) {
        done.error = note(SecondaryError{error, place_of(error), step});
        thrown_ = nullptr;
      } else {
        done.threw_first_error = true;
        first_error = error;
      }
    }
    const std::chrono::nanoseconds took = watched.took();
    done.micros =
        std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    if (watch_.is_late(took)) {
      done.outcome = Outcome::kTimedOut;
    }
    note(done, watched);
  }
  if (first_error) {
    std::rethrow_exception(first_error);
  }
  place_.stage = stage;
}

void Run::note(const CleanupNote& done, CleanupWatch::Piece& piece) noexcept {
  // At once: whoever looks finds the piece among the running or the noted ones.
  const auto locked = watch_.lock();
  piece.end();
  ++cleanup_total_;
  try {
    cleanup_.push_back(done);
  } catch (const std::bad_alloc&) {
    // The total says that one is missing.
  }
}

std::optional<std::size_t> Run::note(const SecondaryError& error) noexcept {
  const auto locked = watch_.lock();
  ++secondary_total_;
  try {
    secondary_.push_back(error);
    return secondary_.size() - 1;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

void Run::restore_process_state() {
  while (!keepers_.empty()) {
    std::unique_ptr<StateKeeper> keeper;
    {
      const auto locked = watch_.lock();
      keeper = std::move(keepers_.back());
      keepers_.pop_back();
    }
    isolate(kRestore, Component(), Hook::kNone, [&] { keeper->restore(); });
  }
}

UnfinishedCleanup Run::unfinished_cleanup() const {
  UnfinishedCleanup out;
  const auto locked = watch_.lock();
  if (!watch_.has_begun() && pthread_equal(thread_, pthread_self()) == 0) {
    return out;
  }
  out.notes = watch_.running();
  out.notes.insert(out.notes.begin(), cleanup_.begin(), cleanup_.end());
  out.errors = secondary_;
  out.interrupt = interrupt_;
  const auto skip = [&](std::string_view step, Component component) {
    CleanupNote skipped;
    skipped.step = step;
    skipped.component = component;
    skipped.outcome = Outcome::kSkipped;
    out.notes.push_back(skipped);
  };
  const auto skip_duties = [&](DutyKind kind, auto begin, auto end) {
    std::for_each(begin, end, [&](const Duty& duty) {
      if (duty.kind == kind && !duty.done) {
        skip(kStepNames[static_cast<std::size_t>(kind)], duty.component);
      }
    });
  };
  if (failure_) {
    skip_duties(DutyKind::kTell, duties_.begin(), duties_.end());
  }
  skip_duties(DutyKind::kRelease, duties_.rbegin(), duties_.rend());
  skip_duties(DutyKind::kTeardown, duties_.rbegin(), duties_.rend());
  skip_duties(DutyKind::kFinalize, duties_.begin(), duties_.end());
  for (std::size_t i = 0; i < keepers_.size(); ++i) {
    skip(kRestore, Component());
  }
  return out;
}

}  // namespace mishap
