#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/file_filter.h>
#include <mishap/trainer/harness/preload/file_path.h>
#include <mishap/trainer/harness/preload/open_files.h>
#include <sys/stat.h>

#include <array>
#include <atomic>

namespace mishap::preload {
namespace {

constexpr int kDescriptors = 4096;

struct Kept {
  // Which file it was, of which generation of names; 0: nothing is kept.
  std::atomic<std::uint64_t> identity{0};
  std::atomic<std::uint32_t> point_path{0};
  std::atomic<std::uint32_t> told_path{0};
  std::atomic<bool> is_written{false};
};

constinit std::array<Kept, kDescriptors> kept{};
constinit std::atomic<std::uint64_t> generation{1};

std::uint64_t identity_of(const struct stat& about) noexcept {
  const std::uint64_t mixed =
      (about.st_ino * 0x9fb21c651e98df25 + about.st_dev) ^
      (generation.load(std::memory_order_relaxed) * 0x9e3779b97f4a7c15);
  return mixed | 1;
}

OpenFile ask(int descriptor) noexcept {
  PathRoom room;
  const std::string_view path = path_of_descriptor(descriptor, room);
  OpenFile out;
  if (path.empty()) {
    return out;
  }
  if (is_point_file(path)) {
    out.point_path = keep_text(path);
  }
  if (is_told_file(path)) {
    out.told_path = keep_text(path);
  }
  return out;
}

}  // namespace

OpenFile open_file(int descriptor) noexcept {
  struct stat about {};
  if (descriptor < 0 || fstat(descriptor, &about) != 0 ||
      !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))) {
    return {};
  }
  if (descriptor >= kDescriptors) {
    return ask(descriptor);
  }
  Kept& known = kept[static_cast<std::size_t>(descriptor)];
  const std::uint64_t identity = identity_of(about);
  if (known.identity.load(std::memory_order_acquire) == identity) {
    return {known.point_path.load(std::memory_order_relaxed),
            known.told_path.load(std::memory_order_relaxed)};
  }
  const OpenFile found = ask(descriptor);
  known.point_path.store(found.point_path, std::memory_order_relaxed);
  known.told_path.store(found.told_path, std::memory_order_relaxed);
  known.identity.store(identity, std::memory_order_release);
  return found;
}

void forget_open_files() noexcept { generation.fetch_add(1); }

void note_written(int descriptor) noexcept {
  if (descriptor >= 0 && descriptor < kDescriptors) {
    kept[static_cast<std::size_t>(descriptor)].is_written.store(
        true, std::memory_order_relaxed);
  }
}

bool take_written(int descriptor) noexcept {
  return descriptor >= 0 && descriptor < kDescriptors &&
         kept[static_cast<std::size_t>(descriptor)].is_written.exchange(false);
}

}  // namespace mishap::preload
