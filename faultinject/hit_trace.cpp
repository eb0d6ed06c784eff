#include <mishap/faultinject/active_set.h>
#include <mishap/faultinject/hit_trace.h>
#include <mishap/faultinject/stable_hash.h>
#include <mishap/faultinject/trace_buffer.h>

#include <algorithm>

namespace mishap::faultinject {

HitTrace::HitTrace(Scope scope, std::size_t capacity)
    : buffer_(std::make_shared<TraceBuffer>(scope, capacity)) {
  activate(buffer_);
}

HitTrace::~HitTrace() { stop(); }

void HitTrace::stop() noexcept {
  buffer_->stop();
  deactivate(buffer_.get());
}

std::vector<PointId> HitTrace::sequence() const {
  const auto size = static_cast<std::size_t>(
      std::min<std::uint64_t>(buffer_->hits(), buffer_->capacity()));
  std::vector<PointId> points(size);
  for (std::size_t i = 0; i < size; ++i) points[i] = buffer_->at(i);
  return points;
}

std::uint64_t HitTrace::hits() const noexcept { return buffer_->hits(); }

bool HitTrace::overflowed() const noexcept {
  return buffer_->hits() > buffer_->capacity();
}

std::uint64_t HitTrace::hash() const { return sequence_hash(sequence()); }

std::uint64_t sequence_hash(const std::vector<PointId>& sequence) {
  std::uint64_t hash = stable_hash("");
  for (const PointId point : sequence) {
    hash = chain_hash(hash, name_hash(point));
  }
  return hash;
}

}  // namespace mishap::faultinject
