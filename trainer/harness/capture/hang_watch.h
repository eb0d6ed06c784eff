#pragma once

#include <mishap/collector/crash/watchdog.h>
#include <mishap/trainer/guard/signals.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace mishap {

class CaptureObserver;

/// Why a run is taken to hang.
struct HangCause {
  /// Since its last hook, or since the signal.
  std::chrono::nanoseconds idle{0};
  /// The signal that it does not honour, if that is why.
  std::optional<signals::Received> signal;
  /// In a signal handler: its third argument. Nothing that allocates, or locks
  /// without bound, is done then.
  const void* context = nullptr;
  /// The process ends of it, with this status.
  std::optional<int> exit_status;
};

/// What became of telling it.
enum class HangTold : std::uint8_t {
  kTold,
  /// The outcome of the run was settled already.
  kSettled,
  /// Its record is being written by somebody else, who may be what hangs.
  kBusy,
};

/// The hooks of a run as its heartbeat.
class HangWatch final : public collector::Watched {
 public:
  explicit HangWatch(CaptureObserver& run) noexcept : run_(run) {}
  ~HangWatch() override { unwatch(); }

 private:
  void on_hang(const Hang& hang) noexcept override;

  CaptureObserver& run_;
};

}  // namespace mishap
