#pragma once

#include <mishap/trainer/guard/ticks.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace mishap {

/// One of the last steps of a run.
struct StepSeen {
  std::int64_t step = 0;
  /// When somebody told it.
  std::optional<double> loss;
  /// Until the next step began; nothing for the last one.
  std::optional<std::int64_t> micros;
};

/// The last steps of a run, kept for its record: a ring that overwrites the
/// oldest. Written by the run's thread.
class Telemetry {
 public:
  static constexpr std::size_t kCapacity = 16;

  Telemetry() noexcept
      : first_ticks_(read_ticks()), first_time_(Clock::now()) {}

  /// A step begins, and the one before it has ended. A few nanoseconds.
  void begin(std::int64_t step) noexcept {
    Entry& entry = ring_[count_ % kCapacity];
    entry.step = step;
    entry.ticks = read_ticks();
    entry.has_loss = false;
    ++count_;
  }

  /// The loss of the step that goes on.
  void set_loss(double loss) noexcept {
    if (count_ > 0) {
      Entry& entry = ring_[(count_ - 1) % kCapacity];
      entry.loss = loss;
      entry.has_loss = true;
    }
  }

  std::size_t size() const noexcept {
    return count_ < kCapacity ? count_ : kCapacity;
  }

  /// `index` 0 is the oldest kept.
  StepSeen operator[](std::size_t index) const noexcept {
    const std::size_t at = count_ - size() + index;
    const Entry& entry = ring_[at % kCapacity];
    StepSeen seen;
    seen.step = entry.step;
    if (entry.has_loss) {
      seen.loss = entry.loss;
    }
    if (at + 1 < count_) {
      seen.micros = micros(ring_[(at + 1) % kCapacity].ticks - entry.ticks);
    }
    return seen;
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Entry {
    std::int64_t step = 0;
    std::uint64_t ticks = 0;
    double loss = 0;
    bool has_loss = false;
  };

  std::int64_t micros(std::uint64_t ticks) const noexcept {
    const std::chrono::duration<double, std::micro> passed =
        Clock::now() - first_time_;
    const auto all = static_cast<double>(read_ticks() - first_ticks_);
    return all <= 0 ? 0
                    : static_cast<std::int64_t>(static_cast<double>(ticks) *
                                                passed.count() / all);
  }

  std::array<Entry, kCapacity> ring_{};
  std::size_t count_ = 0;
  std::uint64_t first_ticks_;
  Clock::time_point first_time_;
};

}  // namespace mishap
