#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace mishap {

/// How the process ends while runs are open.
struct ProcessExit {
  /// What its parent will see.
  int status = 1;
};

struct HangCause;
enum class HangTold : std::uint8_t;

/// A run that has not ended yet. It hears when the process is left by exit(),
/// or by return from main, on any thread; then it still has to leave its
/// record. With status 0 the process ends with 1 instead: a run that was left
/// is no success. _exit() and quick_exit() are not heard of.
class OpenRun {
 public:
  OpenRun(const OpenRun&) = delete;
  OpenRun& operator=(const OpenRun&) = delete;

  /// Tells every open run of this process, the newest first, and returns
  /// whether there was one. Does not wait without bound, allocates as little as
  /// a failure does.
  static bool end_all(const ProcessExit& exit) noexcept;

  /// In a signal handler: tells every open run whose grace period is over that
  /// it hangs; where one of them ends the process leaves the records of the
  /// others too and does so. The time until the next one is over, if a signal
  /// waits for a run that still has some left.
  static std::optional<std::chrono::nanoseconds> end_overdue(
      const void* context) noexcept;

  /// A signal waits for a safe point of some open run.
  static bool any_waits() noexcept;

  /// The open runs, newest first; for use in on_process_exit().
  static const OpenRun* newest() noexcept;
  const OpenRun* older() const noexcept { return older_; }

 protected:
  OpenRun() noexcept = default;
  ~OpenRun() { delist(); }

  void enlist() noexcept;
  /// Does nothing when not enlisted. Returns when nobody is telling this run.
  void delist() noexcept;

  /// False when the outcome of the run was settled already. Called on the
  /// thread that ends the process, under a lock.
  virtual bool on_process_exit(const ProcessExit& exit) noexcept = 0;

  // Under that lock too; async-signal-safe.

  /// How much of its grace period is left since the signal that waits for this
  /// run; nothing when none does, when it was told, and while a run inside it
  /// is open, which has to honour it first.
  virtual std::optional<std::chrono::nanoseconds> grace_left()
      const noexcept = 0;
  virtual bool ends_process() const noexcept = 0;
  virtual HangTold tell_overdue(const void* context,
                                std::optional<int> exit_status) noexcept = 0;
  virtual int status_of_overdue() const noexcept = 0;
  /// The process ends because of another run.
  virtual void end_from_handler(const ProcessExit& exit) noexcept = 0;

 private:
  bool enlisted_ = false;
  pid_t process_ = 0;
  OpenRun* older_ = nullptr;
};

}  // namespace mishap
