#pragma once

#include <atomic>
#include <cstdint>

namespace mishap {

/// Counts the arrivals of one signal for as long as it lives: a request to a
/// running program that does not end it, as for a checkpoint now.
///
///     SignalRequest checkpoint(SIGUSR1);
///     ...
///     if (checkpoint.take()) save();       // between two steps
///
/// The first object of a signal installs a handler (SA_RESTART), also where the
/// signal was ignored; it calls a previous handler that is a function. The last
/// object restores the previous action, flags and mask included, so that what
/// arrives later does what it did before; a handler that was installed over
/// ours meanwhile stays. Objects of one signal may overlap, on several threads
/// too: each is told of each burst. An arrival that nobody took is forgotten.
/// In a child made by fork() nothing is counted, and it does not end of the
/// signal.
class SignalRequest {
 public:
  /// Thread-safe. Throws InputError for SIGINT and SIGTERM, which ask a run to
  /// end, for SIGKILL and SIGSTOP, for the signals of a crash, and for a number
  /// that is no signal.
  explicit SignalRequest(int signal);
  /// Thread-safe.
  ~SignalRequest();
  SignalRequest(const SignalRequest&) = delete;
  SignalRequest& operator=(const SignalRequest&) = delete;

  int signal() const noexcept { return signal_; }

  /// True once for all arrivals since the last take() of this object, or since
  /// it was made. One relaxed load while there are none. By one thread at a
  /// time.
  bool take() noexcept;

 private:
  const int signal_;
  const std::atomic<std::uint32_t>* arrived_ = nullptr;
  std::uint32_t taken_ = 0;
};

}  // namespace mishap
