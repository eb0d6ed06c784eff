#include <mishap/collector/record/record_line.h>
#include <mishap/collector/record_writer.h>

#include <algorithm>

namespace mishap::collector {
namespace {

constexpr int kMaxHalvings = 10;

RecordLimits halved(const RecordLimits& limits) noexcept {
  const auto half = [](std::size_t limit, std::size_t floor) {
    return std::max(limit / 2, std::min(limit, floor));
  };
  return {.small_bytes = limits.small_bytes,
          .message_bytes = half(limits.message_bytes, 64),
          .text_bytes = half(limits.text_bytes, 32),
          .name_bytes = half(limits.name_bytes, 32),
          .command_bytes = half(limits.command_bytes, 512),
          .tail_bytes = half(limits.tail_bytes, 64),
          .exceptions = half(limits.exceptions, 1),
          .frames = half(limits.frames, 1),
          .thread_frames = half(limits.thread_frames, 1),
          .threads = half(limits.threads, 1),
          .breadcrumbs = half(limits.breadcrumbs, 1),
          .items = half(limits.items, 1)};
}

// What a line that is too long for comfort loses first, and how much of it
// stays in any case.
constexpr std::size_t kLeastBreadcrumbs = 8;
constexpr std::size_t kLeastFrames = 10;
// The entry that names a loss takes room too.
constexpr std::size_t kLossBytes = 64;

// Writes the line, and once more with less in it if that makes it small.
std::size_t write_small(const Record& record, std::span<char> buffer,
                        const RecordLimits& limits) noexcept {
  RecordLine line(record, buffer, limits);
  const std::size_t size = line.write();
  if (size <= limits.small_bytes) return size;
  std::size_t excess = size - limits.small_bytes + kLossBytes;
  RecordLimits fewer = limits;
  fewer.breadcrumbs =
      line.breadcrumbs().kept_to_save(excess, kLeastBreadcrumbs);
  const std::size_t saved = line.breadcrumbs().saving(fewer.breadcrumbs);
  if (saved < excess) {
    excess += kLossBytes - saved;
    fewer.frames = line.frames().kept_to_save(excess, kLeastFrames);
    if (line.frames().saving(fewer.frames) < excess) return size;
  }
  return RecordLine(record, buffer, fewer).write();
}

}  // namespace

std::size_t write_record(const Record& record, std::span<char> buffer,
                         const RecordLimits& limits) noexcept {
  RecordLimits current = limits;
  for (int i = 0; i < kMaxHalvings; ++i) {
    if (const std::size_t size = write_small(record, buffer, current)) {
      return size;
    }
    current = halved(current);
  }
  return 0;
}

}  // namespace mishap::collector
