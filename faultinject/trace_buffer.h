#pragma once

#include <mishap/faultinject/hit_context.h>
#include <mishap/faultinject/point.h>
#include <mishap/faultinject/scope.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mishap::faultinject {

/// The hits of a trace, in memory that was taken beforehand.
class TraceBuffer {
 public:
  TraceBuffer(Scope scope, std::size_t capacity)
      : scope_(scope), points_(capacity) {}

  void record(PointId point, const HitContext& context) noexcept {
    if (stopped_.load(std::memory_order_acquire) || !scope_.covers(context)) {
      return;
    }
    const std::uint64_t n = hits_.fetch_add(1, std::memory_order_acq_rel);
    if (n < points_.size()) {
      points_[n].store(point.value, std::memory_order_release);
    }
  }

  void stop() noexcept { stopped_.store(true, std::memory_order_release); }
  std::uint64_t hits() const noexcept {
    return hits_.load(std::memory_order_acquire);
  }
  std::size_t capacity() const noexcept { return points_.size(); }
  PointId at(std::size_t index) const noexcept {
    return {points_[index].load(std::memory_order_acquire)};
  }

 private:
  const Scope scope_;
  std::vector<std::atomic<std::uint32_t>> points_;
  std::atomic<std::uint64_t> hits_{0};
  std::atomic<bool> stopped_{false};
};

}  // namespace mishap::faultinject
