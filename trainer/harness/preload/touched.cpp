#include <fcntl.h>
#include <mishap/collector/hash.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/file_filter.h>
#include <mishap/trainer/harness/preload/private_table.h>
#include <mishap/trainer/harness/preload/real_calls.h>
#include <mishap/trainer/harness/preload/touched.h>
#include <mishap/trainer/harness/program/content_hash.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>

namespace mishap::preload {
namespace {

constexpr off_t kLargest = off_t{256} << 20;

constinit NumberTable<program::kTouches * 2> entries;
constinit BusyFlag adding;

// Texts are numbered by where they lie; the table wants keys that differ in
// their upper bits too.
std::uint64_t key(std::uint32_t path) noexcept {
  return path * std::uint64_t{0x9e3779b97f4a7c15};
}

program::TouchEntry* entry_of(std::uint32_t path) noexcept {
  program::Control& control = *agent.control;
  std::uint32_t number = entries.find(key(path));
  if (number < program::kTouches) {
    return &control.touches[number];
  }
  const BusyLock lock(adding);
  const std::uint32_t count = control.touch_count.load();
  for (number = 0; number < count; ++number) {
    if (control.touches[number].path == path) {
      break;
    }
  }
  if (!lock || number == program::kTouches) {
    control.overflows.fetch_add(1);
    return nullptr;
  }
  if (number == count) {
    control.touches[count].path = path;
    control.touches[count].touches.store(0);
    control.touch_count.store(count + 1);
  }
  entries.add(key(path), number);
  return &control.touches[number];
}

std::optional<std::uint64_t> content_of(const char* path) noexcept {
  const int file = real.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return std::nullopt;
  }
  struct stat about {};
  program::ContentHash hash;
  bool is_whole = fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
                  about.st_size <= kLargest;
  std::array<char, 1 << 15> piece;
  ssize_t size = 0;
  while (is_whole && (size = real.read(file, piece.data(), piece.size())) > 0) {
    hash.feed(piece.data(), static_cast<std::size_t>(size));
  }
  is_whole = is_whole && size == 0;
  real.close(file);
  return is_whole ? std::optional(hash.value()) : std::nullopt;
}

}  // namespace

void touch(std::uint32_t path, program::Touch what) noexcept {
  if (path == program::kNoText || agent.work.load() == Work::kPlan) {
    return;
  }
  if (program::TouchEntry* const entry = entry_of(path)) {
    entry->touches.fetch_or(static_cast<std::uint32_t>(what));
  }
}

void touch(std::string_view path, program::Touch what) noexcept {
  if (is_told_file(path)) {
    touch(keep_text(path), what);
  }
}

void tell_version(std::uint32_t path) noexcept {
  if (path == program::kNoText || agent.work.load() != Work::kSweep ||
      agent.mode != program::Mode::kCount) {
    return;
  }
  const std::optional<std::uint64_t> hash = content_of(text_at(path).data());
  if (!hash) {
    return;
  }
  program::Control& control = *agent.control;
  const BusyLock lock(adding);
  const std::uint32_t count = control.version_count.load();
  for (std::uint32_t i = 0; i < count; ++i) {
    const program::VersionEntry& known = control.versions[i];
    if (known.path == path && known.hash == *hash) {
      return;
    }
  }
  if (!lock || count == program::kVersions) {
    control.overflows.fetch_add(1);
    return;
  }
  control.versions[count] = {path, 0, *hash};
  control.version_count.store(count + 1);
}

bool make_touch_table() noexcept { return entries.make(); }

}  // namespace mishap::preload
