#pragma once

#include <mishap/trainer/guard/ticks.h>

#include <algorithm>
#include <array>
#include <atomic>
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
/// oldest. Written by the run's thread; read by any thread and in a signal
/// handler, which may see a step that is half of the next one.
class Telemetry {
 public:
  static constexpr std::size_t kCapacity = 16;

  Telemetry() noexcept
      : first_ticks_(read_ticks()), first_time_(Clock::now()) {}

  /// A step begins, and the one before it has ended. A few nanoseconds.
  void begin(std::int64_t step) noexcept {
    const std::size_t count = get(count_);
    Entry& entry = ring_[count % kCapacity];
    set(entry.step, step);
    set(entry.ticks, read_ticks());
    set(entry.has_loss, false);
    set(count_, count + 1);
  }

  /// The loss of the step that goes on.
  void set_loss(double loss) noexcept {
    if (const std::size_t count = get(count_); count > 0) {
      Entry& entry = ring_[(count - 1) % kCapacity];
      set(entry.loss, loss);
      set(entry.has_loss, true);
    }
  }

  std::size_t size() const noexcept { return std::min(get(count_), kCapacity); }

  /// `index` 0 is the oldest kept.
  StepSeen operator[](std::size_t index) const noexcept {
    const std::size_t count = get(count_);
    const std::size_t at = count - std::min(count, kCapacity) + index;
    const Entry& entry = ring_[at % kCapacity];
    StepSeen seen;
    seen.step = get(entry.step);
    if (get(entry.has_loss)) {
      seen.loss = get(entry.loss);
    }
    if (at + 1 < count) {
      seen.micros =
          micros(get(ring_[(at + 1) % kCapacity].ticks) - get(entry.ticks));
    }
    return seen;
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Entry {
    std::atomic<std::int64_t> step{0};
    std::atomic<std::uint64_t> ticks{0};
    std::atomic<double> loss{0};
    std::atomic<bool> has_loss{false};
  };

  template <class T>
  static T get(const std::atomic<T>& value) noexcept {
    return value.load(std::memory_order_relaxed);
  }
  template <class T>
  static void set(std::atomic<T>& value, T to) noexcept {
    value.store(to, std::memory_order_relaxed);
  }

  std::int64_t micros(std::uint64_t ticks) const noexcept {
    const std::chrono::duration<double, std::micro> passed =
        Clock::now() - first_time_;
    const auto all = static_cast<double>(read_ticks() - first_ticks_);
    return all <= 0 ? 0
                    : static_cast<std::int64_t>(static_cast<double>(ticks) *
                                                passed.count() / all);
  }

  std::array<Entry, kCapacity> ring_{};
  std::atomic<std::size_t> count_{0};
  std::uint64_t first_ticks_;
  Clock::time_point first_time_;
};

}  // namespace mishap
