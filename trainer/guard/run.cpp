#include <cxxabi.h>
#include <mishap/trainer/guard/guarded_call.h>
#include <mishap/trainer/guard/run.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace mishap {
namespace {

// Reserved at entry, so that handling an error allocates nothing of ours.
constexpr std::size_t kReservedDuties = 24;
constexpr std::size_t kReservedNotes = 48;
constexpr std::size_t kReservedSecondaries = 16;

// Of an error that no step of the cleanup met.
constexpr std::string_view kNoStep;

thread_local Run* innermost = nullptr;

std::int64_t steady_nanos() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

// What a run owes to a component is done whatever comes in front of it.
constexpr bool is_owed(Hook hook) noexcept {
  return hook == Hook::kOnException || hook == Hook::kTeardown ||
         hook == Hook::kFinalize;
}

void enter_all(const std::vector<Observer*>& observers,
               std::span<Observer* const>& entered, Run& run) {
  for (Observer* const observer : observers) {
    observer->on_enter(run);
    entered = {observers.data(), entered.size() + 1};
  }
}

CleanupWatch::OnOvertime overtime_of(const Run& run,
                                     const GuardOptions& options) {
  if (!options.on_overtime) {
    return nullptr;
  }
  return [&run, &options](const CleanupNote& piece) {
    options.on_overtime({run.entry_point(), piece, options.cleanup_limit});
  };
}

}  // namespace

Run* Run::current() noexcept { return innermost; }

Run::Run(std::string_view entry_point, const GuardOptions& options)
    : entry_point_(entry_point),
      options_in_(options),
      owner_(options.owner),
      parent_(innermost),
      thread_(pthread_self()),
      watch_(options.cleanup_limit, overtime_of(*this, options)) {
  duties_.reserve(kReservedDuties);
  cleanup_.reserve(kReservedNotes);
  secondary_.reserve(kReservedSecondaries);
  innermost = this;
}

Run::~Run() { innermost = parent_; }

void Run::open() {
  if (options_in_.handle_signals) {
    seat_.enter(parent_ != nullptr ? &parent_->seat_ : nullptr);
  }
  status_ = Status::kRunning;
  attempt([this] {
    enter_all(options_in_.observers, observers_, *this);
    enter_all(options_in_.interceptors, interceptors_, *this);
    if (observers_.size() == 1) {
      only_observer_ = observers_.front();
    }
    if (interceptors_.size() == 1) {
      intercept_ = interceptors_.front()->calls_wanted();
    }
  });
  attempt([this] { keepers_ = make_state_keepers(); });
  // Neither a safe point nor a throw here: the body has not yet said who is to
  // be told. The first hook has both.
}

template <class Piece>
void Run::attempt(Piece piece) {
  try {
    piece();
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    std::exception_ptr error = std::current_exception();
    if (refusal_) {
      note(SecondaryError{std::move(error), place_, kNoStep});
      return;
    }
    refusal_ = std::move(error);
    thrown_ = refusal_;
    thrown_place_ = place_;
  }
}

void Run::throw_refusal() {
  if (refusal_) {
    std::rethrow_exception(std::exchange(refusal_, nullptr));
  }
}

void Run::return_to(Hook hook, Component component) noexcept {
  place_.hook = hook;
  place_.component = component;
  if (hook == Hook::kNone) {
    return;
  }
  seat_.publish(place_);
  if (only_observer_ != nullptr) [[likely]] {
    only_observer_->resumed(*this);
  } else {
    for (Observer* observer : observers_) {
      observer->resumed(*this);
    }
  }
  if (intercepts()) {
    for (Observer* interceptor : interceptors_) {
      interceptor->resumed(*this);
    }
  }
}

void Run::enter(Hook hook, Component component) {
  place_.hook = hook;
  place_.component = component;
  seat_.publish(place_);
  if (thrown_) [[unlikely]] {
    throw_refusal();
    // Code that goes on has handled what was thrown before.
    thrown_ = nullptr;
  }
  if (only_observer_ != nullptr) [[likely]] {
    only_observer_->before(*this);
  } else {
    call_before(observers_);
  }
  if (!is_owed(hook)) {
    safe_point();
  }
  if (intercepts()) [[unlikely]] {
    call_before(interceptors_);
  }
}

void Run::leave(Hook outer_hook, Component outer_component) {
  if (intercepts()) [[unlikely]] {
    call_after(interceptors_);
  }
  safe_point();
  if (only_observer_ != nullptr) [[likely]] {
    only_observer_->after(*this);
  } else {
    call_after(observers_);
  }
  return_to(outer_hook, outer_component);
}

void Run::call_before(std::span<Observer* const> observers) {
  for (Observer* observer : observers) {
    observer->before(*this);
  }
}

void Run::call_after(std::span<Observer* const> observers) {
  for (auto it = observers.rbegin(); it != observers.rend(); ++it) {
    (*it)->after(*this);
  }
}

void Run::note_throw() noexcept {
  std::exception_ptr error = std::current_exception();
  if (error != thrown_) {
    thrown_ = std::move(error);
    thrown_place_ = place_;
  }
}

void Run::honour_signal() {
  const Place at = seat_.place_at_signal();
  const signals::Received received = seat_.honour();
  {
    const auto locked = watch_.lock();
    interrupt_ = InterruptNote{received, at, place_, steady_nanos()};
  }
  if (failure_) {
    return;
  }
  throw Interrupted(received.signal,
                    std::string(signals::name(received.signal)) +
                        " arrived during " + entry_point_);
}

void Run::fail(std::exception_ptr error) {
  // What describes the failure is sampled without a thread of ours.
  watch_.stop();
  if (refusal_) {
    // The body failed before its first hook: the guard had the other one first.
    note(SecondaryError{std::move(error), place_, kNoStep});
    error = std::exchange(refusal_, nullptr);
  }
  const Place place = place_of(error);
  thrown_ = nullptr;
  const auto locked = watch_.lock();
  failure_ = Failure{std::move(error), place};
}

Place Run::place_of(const std::exception_ptr& error) const noexcept {
  return thrown_ == error ? thrown_place_ : place_;
}

FinalWord Run::final_word() const noexcept {
  switch (status_) {
    case Status::kInterrupted:
      return FinalWord::kInterrupted;
    case Status::kFailed:
      return FinalWord::kFailed;
    default:
      return FinalWord::kSuccess;
  }
}

ErrorEvent Run::event_for(Component component) const {
  ErrorEvent event;
  event.error = failure_->error;
  event.entry_point = entry_point_;
  event.place = failure_->place;
  event.status = status_;
  event.late = done(DutyKind::kTeardown, component) ||
               done(DutyKind::kRelease, component);
  return event;
}

void Run::owe(DutyKind kind, Component component,
              std::function<void(Run&)> duty, int order) {
  const auto locked = watch_.lock();
  const auto position =
      std::find_if(duties_.begin(), duties_.end(), [&](const Duty& other) {
        return kind == DutyKind::kTell && other.kind == DutyKind::kTell &&
               other.order > order;
      });
  duties_.insert(position,
                 Duty{kind, component, std::move(duty), order, false});
}

bool Run::done(DutyKind kind, Component component) const noexcept {
  return std::any_of(duties_.begin(), duties_.end(), [&](const Duty& duty) {
    return duty.kind == kind && duty.component == component && duty.done;
  });
}

Run::Duty* Run::next_due(DutyKind kind) noexcept {
  const auto is_due = [kind](const Duty& duty) {
    return duty.kind == kind && !duty.done;
  };
  if (kind == DutyKind::kRelease || kind == DutyKind::kTeardown) {
    const auto last = std::find_if(duties_.rbegin(), duties_.rend(), is_due);
    return last == duties_.rend() ? nullptr : &*last;
  }
  const auto first = std::find_if(duties_.begin(), duties_.end(), is_due);
  return first == duties_.end() ? nullptr : &*first;
}

void Run::freeze() {
  for (Observer* observer : observers_) {
    observer->on_failure(*this, *failure_);
  }
  for (Observer* interceptor : interceptors_) {
    interceptor->on_failure(*this, *failure_);
  }
}

void Run::close() {
  if (closed_) {
    return;
  }
  closed_ = true;
  for (auto it = interceptors_.rbegin(); it != interceptors_.rend(); ++it) {
    (*it)->on_close(*this, failure());
  }
  for (auto it = observers_.rbegin(); it != observers_.rend(); ++it) {
    (*it)->on_close(*this, failure());
  }
  // Last: its thread may hardly have started, and the record need not wait.
  watch_.stop();
  // A held exception keeps its tensors alive.
  secondary_.clear();
}

void Run::abandon() noexcept {
  watch_.stop();
  if (!closed_) {
    closed_ = true;
    for (auto it = interceptors_.rbegin(); it != interceptors_.rend(); ++it) {
      (*it)->on_abandoned(*this);
    }
    for (auto it = observers_.rbegin(); it != observers_.rend(); ++it) {
      (*it)->on_abandoned(*this);
    }
  }
  seat_.leave();
}

void Run::step(std::int64_t step) {
  static const Component loop = Component::named("loop");
  place_.step = step;
  telemetry_.begin(step);
  call(Hook::kStep, loop, [] {});
}

void Run::epoch(std::int64_t epoch) {
  static const Component loop = Component::named("loop");
  place_.epoch = epoch;
  call(Hook::kEpoch, loop, [] {});
}

void Run::on_teardown(std::string_view name, std::function<void()> cleanup) {
  owe(DutyKind::kTeardown, Component::named(name),
      [cleanup = std::move(cleanup)](Run&) { cleanup(); });
}

void Run::on_exception(std::string_view name,
                       std::function<void(const ErrorEvent&)> handler) {
  const Component component = Component::named(name);
  owe(DutyKind::kTell, component,
      [component, handler = std::move(handler)](Run& run) {
        handler(run.event_for(component));
      });
}

void Run::note_checkpoint(const CheckpointNote& checkpoint) noexcept {
  for (Observer* observer : observers_) {
    observer->on_checkpoint(*this, checkpoint);
  }
}

void Run::check_finite(double value, std::string_view what) {
  if (!std::isfinite(value)) {
    throw NonFinite(std::string(what) + " is " +
                    (std::isnan(value) ? "NaN" : "infinite") + " at step " +
                    std::to_string(place_.step));
  }
}

void Run::set_option(std::string_view name, std::string value) {
  options_.emplace_back(name, std::move(value));
}

}  // namespace mishap
