#pragma once

#include <csignal>

namespace mishap::collector {

/// While alive, a write by this thread that goes wrong raises neither SIGPIPE
/// nor SIGXFSZ, which would end the process that we report about. Signals of
/// that kind that were pending before stay pending. Keeps errno.
/// Async-signal-safe.
class QuietSignals {
 public:
  QuietSignals() noexcept;
  ~QuietSignals();
  QuietSignals(const QuietSignals&) = delete;
  QuietSignals& operator=(const QuietSignals&) = delete;

 private:
  sigset_t ours_;
  sigset_t previous_;
};

}  // namespace mishap::collector
