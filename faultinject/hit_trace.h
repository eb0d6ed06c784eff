#pragma once

#include <mishap/faultinject/point.h>
#include <mishap/faultinject/scope.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace mishap::faultinject {

class TraceBuffer;

/// Writes down the points that are hit while it lives: what a run does, in
/// order, with nothing failing. Costs no allocation per hit.
class HitTrace {
 public:
  static constexpr std::size_t kDefaultCapacity = std::size_t{1} << 16;

  /// @param capacity hits that are kept in order; more are only counted.
  explicit HitTrace(Scope scope = Scope::process(),
                    std::size_t capacity = kDefaultCapacity);
  ~HitTrace();
  HitTrace(const HitTrace&) = delete;
  HitTrace& operator=(const HitTrace&) = delete;

  /// Ends the recording; what was recorded stays.
  void stop() noexcept;

  /// The hits in order. Complete only if !overflowed().
  std::vector<PointId> sequence() const;
  std::uint64_t hits() const noexcept;
  bool overflowed() const noexcept;

  /// A hash of the names in order, the same in every process.
  std::uint64_t hash() const;

 private:
  std::shared_ptr<TraceBuffer> buffer_;
};

/// The hash of a sequence, as HitTrace::hash() computes it.
std::uint64_t sequence_hash(const std::vector<PointId>& sequence);

}  // namespace mishap::faultinject
