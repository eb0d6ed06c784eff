#include <fcntl.h>
#include <mishap/collector/io/bounded_write.h>
#include <mishap/collector/io/quiet_signals.h>
#include <mishap/collector/pending/live_slots.h>
#include <mishap/collector/pending/slot_format.h>
#include <mishap/collector/pending_slot.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>

namespace mishap::collector {
namespace {

constexpr mode_t kOwnerOnly = 0600;

bool is_folder(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

template <std::size_t kSize>
void copy_text(std::string_view text, std::array<char, kSize>& out) noexcept {
  std::copy_n(text.data(), std::min(text.size(), kSize - 1), out.data());
}

// Pages of a file whose space was taken by a write, so that no later store
// meets a full disk; null when there are none. (posix_fallocate() would do the
// same, but takes and gives back blocks of a disk at once: milliseconds.)
void* map_pages(int file) noexcept {
  static constexpr std::array<char, kSlotPagesBytes> kZeros{};
  const QuietSignals quiet;
  if (!is_safe_to_map(file) || pwrite(file, kZeros.data(), kZeros.size(), 0) !=
                                   static_cast<ssize_t>(kZeros.size())) {
    return nullptr;
  }
  void* const pages = mmap(nullptr, kSlotPagesBytes, PROT_READ | PROT_WRITE,
                           MAP_SHARED, file, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

}  // namespace

bool PendingSlot::open(std::string_view records_folder,
                       std::string_view run_id) noexcept {
  close();
  try {
    problem_.clear();
    const std::string folder(records_folder);
    if (folder.size() >= SlotHeader{}.folder.size()) {
      problem_ = "the path of the records folder is too long";
      return false;
    }
    std::vector<std::string> places;
    if (is_folder(folder)) places.push_back(folder);
    for (std::string& other : slot_fallback_folders()) {
      places.push_back(std::move(other));
    }
    const std::string name = "/" + std::string(kSlotPrefix) +
                             std::to_string(getpid()) + "-" +
                             std::string(run_id);
    for (const std::string& place : places) {
      if (create(place + name, folder)) return true;
    }
  } catch (const std::exception&) {
    // Out of memory: the run goes on without a slot.
  }
  return false;
}

bool PendingSlot::create(const std::string& path, const std::string& folder) {
  // What may throw comes first: from open() on there is a file to remove.
  const std::string& boot = boot_id();
  const std::uint64_t ticks = own_start_ticks();
  path_ = path;
  fd_ = ::open(path_.c_str(),
               O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly);
  if (fd_ < 0) {
    const int error = errno;
    path_.clear();
    problem_ = path + ": " + std::string(error_text(error));
    return false;
  }
  void* const pages = map_pages(fd_);
  if (pages == nullptr || !LiveSlots::add(*this)) {
    if (pages != nullptr) munmap(pages, kSlotPagesBytes);
    remove_file();
    problem_ = path + ": no room for pages that are safe to map";
    return false;
  }
  flock(fd_, LOCK_EX | LOCK_NB);
  pages_ = new (pages) SlotPages;
  SlotHeader& header = pages_->header;
  header.pid = getpid();
  header.start_ticks = ticks;
  copy_text(boot, header.boot_id);
  copy_text(folder, header.folder);
  header.magic = SlotHeader::kMagic;
  box_ = &pages_->box;
  problem_.clear();
  return true;
}

BoxNames* PendingSlot::names() noexcept {
  return pages_ == nullptr ? nullptr : &pages_->names;
}

void PendingSlot::remove_file() noexcept {
  if (fd_ < 0) return;
  unlink(path_.c_str());
  ::close(fd_);
  fd_ = -1;
  path_.clear();
}

void PendingSlot::hold(std::string_view line) noexcept {
  store(line, SlotState::kRunning);
}

void PendingSlot::freeze(std::string_view line) noexcept {
  store(line, SlotState::kFrozen);
}

void PendingSlot::store(std::string_view line, SlotState state) noexcept {
  if (fd_ < 0 || line.size() > kRecordBufferBytes) return;
  const int saved_errno = errno;
  const QuietSignals quiet;
  SlotHeader& header = pages_->header;
  const std::uint32_t next = 1 - header.active.load();
  const ssize_t written =
      pwrite(fd_, line.data(), line.size(), slot_text_offset(next));
  if (written == static_cast<ssize_t>(line.size())) {
    header.texts[next] = {line.size(), slot_checksum(line), state};
    header.active.store(next);
  }
  errno = saved_errno;
}

void PendingSlot::close() noexcept {
  if (pages_ == nullptr) return;
  LiveSlots::remove(*this);
  remove_file();
  box_ = &own_box_;
  munmap(pages_, kSlotPagesBytes);
  pages_ = nullptr;
}

void PendingSlot::remove_for_exit() const noexcept {
  if (!path_.empty()) unlink(path_.c_str());
}

void PendingSlot::leave_to_parent() noexcept {
  void* const copy = mmap(nullptr, kSlotPagesBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return;
  std::memcpy(copy, static_cast<const void*>(pages_), kSlotPagesBytes);
  // The address stays valid: the child may write to the box.
  if (mremap(copy, kSlotPagesBytes, kSlotPagesBytes,
             MREMAP_MAYMOVE | MREMAP_FIXED, pages_) == MAP_FAILED) {
    munmap(copy, kSlotPagesBytes);
    return;
  }
  // Closing a copy of the descriptor leaves the lock with the parent.
  ::close(fd_);
  fd_ = -1;
  path_.clear();
}

}  // namespace mishap::collector
