#include <mishap/collector/clock.h>
#include <mishap/collector/torch/fixed_text.h>
#include <mishap/collector/torch/warning_collector.h>

#include <algorithm>

namespace mishap::collector {
WarningCollector::WarningCollector()
    : previous_(c10::Warning::get_warning_handler()) {
  c10::Warning::set_warning_handler(this);
}

WarningCollector::~WarningCollector() {
  c10::Warning::set_warning_handler(previous_);
}

void WarningCollector::process(const c10::SourceLocation& location,
                               const std::string& message, bool verbatim) {
  {
    const std::lock_guard lock(mutex_);
    CollectedWarning& entry = entry_for(message);
    copy_text(location.file, entry.file);
    entry.line = location.line;
    entry.steady_nanos = Clock::system().steady_nano();
    ++entry.count;
  }
  previous_->process(location, message, verbatim);
}

CollectedWarning& WarningCollector::entry_for(std::string_view message) {
  for (CollectedWarning& entry : kept_) {
    if (entry.count > 0 &&
        fitting(message, entry.message) == entry.message.data()) {
      return entry;
    }
  }
  CollectedWarning& oldest = kept_[kept_count_++ % kCapacity];
  oldest = CollectedWarning{};
  copy_text(message, oldest.message);
  return oldest;
}

std::size_t WarningCollector::copy(
    std::span<CollectedWarning> out) const noexcept {
  const std::lock_guard lock(mutex_);
  return copy_locked(out);
}

std::size_t WarningCollector::try_copy(
    std::span<CollectedWarning> out) const noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock ? copy_locked(out) : 0;
}

std::size_t WarningCollector::copy_locked(
    std::span<CollectedWarning> out) const noexcept {
  const std::size_t size = std::min({kept_count_, kCapacity, out.size()});
  for (std::size_t i = 0; i < size; ++i) {
    out[i] = kept_[(kept_count_ - size + i) % kCapacity];
  }
  return size;
}

}  // namespace mishap::collector
