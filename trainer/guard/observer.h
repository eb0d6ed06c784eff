#pragma once

#include <atomic>
#include <cstdint>

namespace mishap {

class Run;
struct CheckpointNote;
struct Failure;

/// A tool that treats all hooks alike: breadcrumbs, faults, timers.
///
/// Of one event the observers are called first, start events in the order of
/// registration and end events in reverse, then the interceptors. So the
/// breadcrumb of a hook is always written before the fault at that hook fires.
/// Where the run is stands in Run::place().
class Observer {
 public:
  virtual ~Observer() = default;

  /// The guard was entered. What it throws, InputError for one, is an error of
  /// the run at the stage configure: it leaves at the first hook, when the body
  /// has said who is to be told, or at the end of a body without hooks. An
  /// observer that threw has not entered the run: it and all that would have
  /// come after it hear no more of it.
  virtual void on_enter(Run&) {}
  /// Of an interceptor: as long as that number is 0 it has nothing to do at
  /// hooks and need not be called there. Null, it is always called. Asked once
  /// a run; what it points to outlives the run.
  virtual const std::atomic<std::uint32_t>* calls_wanted() const noexcept {
    return nullptr;
  }
  /// A hook of a component is about to run. A throw is an error of that hook.
  virtual void before(Run&) {}
  /// The hook returned. A throw is an error of that hook.
  virtual void after(Run&) {}
  /// A hook goes on in which another one ran: that one returned or threw. Costs
  /// every nested hook what it does.
  virtual void resumed(Run&) noexcept {}
  /// A checkpoint that the run can be gone on from is in its place, or was
  /// loaded.
  virtual void on_checkpoint(Run&, const CheckpointNote&) noexcept {}
  /// The first error has reached the guard; nothing was cleaned up yet.
  virtual void on_failure(Run&, const Failure&) noexcept {}
  /// Everything is cleaned up; the caller learns the outcome next. `failure`
  /// is null when the run succeeded.
  virtual void on_close(Run&, const Failure* /*failure*/) noexcept {}
  /// Instead of on_close(): the thread ends inside the run, by pthread_exit()
  /// or by cancellation.
  virtual void on_abandoned(Run&) noexcept {}
};

}  // namespace mishap
