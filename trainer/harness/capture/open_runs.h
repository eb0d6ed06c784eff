#pragma once

#include <sys/types.h>

namespace mishap {

/// How the process ends while runs are open.
struct ProcessExit {
  /// What its parent will see.
  int status = 1;
};

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

 private:
  bool enlisted_ = false;
  pid_t process_ = 0;
  OpenRun* older_ = nullptr;
};

}  // namespace mishap
