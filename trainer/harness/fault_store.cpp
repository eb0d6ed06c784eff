#include <mishap/faultinject/active.h>
#include <mishap/faultinject/catalogue.h>
#include <mishap/trainer/harness/fault_store.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace mishap {
namespace {

using faultinject::ActionKind;
using faultinject::Capability;
using faultinject::Directive;
using faultinject::PointId;

PointId point(std::string_view kind, std::string_view call) {
  return faultinject::intern("io/" + std::string(kind) + '/' +
                             std::string(call));
}

Directive ask(PointId point) {
  return faultinject::active() ? faultinject::hit(point) : Directive();
}

// Whether the call fails; errno is set then.
bool is_refused(PointId point) {
  const Directive directive = ask(point);
  if (directive.action != ActionKind::kErrno) {
    return false;
  }
  errno = static_cast<int>(directive.number);
  return true;
}

// One bit, or the last byte turned over.
void damage(const Directive& directive, char* data, std::size_t size) {
  if (directive.action == ActionKind::kCorrupt) {
    data[size - 1] = static_cast<char>(~data[size - 1]);
  } else {
    const auto bit = static_cast<std::uint64_t>(directive.number);
    data[bit / 8 % size] ^= static_cast<char>(1U << bit % 8);
  }
}

}  // namespace

FaultStore::FaultStore(std::string_view kind, FileStore& below)
    : below_(below),
      create_(point(kind, "create")),
      open_folder_(point(kind, "open_folder")),
      open_(point(kind, "open")),
      read_(point(kind, "read")),
      write_(point(kind, "write")),
      fsync_(point(kind, "fsync")),
      close_(point(kind, "close")),
      link_(point(kind, "link")),
      rename_(point(kind, "rename")),
      unlink_(point(kind, "unlink")) {
  // What could not be removed is removed by the next save.
  faultinject::declare_point(
      faultinject::name_of(unlink_),
      Capability::kControl | Capability::kIo | Capability::kRecover);
}

int FaultStore::create(const char* path) {
  return is_refused(create_) ? -1 : below_.create(path);
}

int FaultStore::open_folder(const char* path) {
  return is_refused(open_folder_) ? -1 : below_.open_folder(path);
}

int FaultStore::open(const char* path) {
  return is_refused(open_) ? -1 : below_.open(path);
}

ssize_t FaultStore::read(int file, void* data, std::size_t size) {
  const Directive directive = ask(read_);
  const auto number = static_cast<std::uint64_t>(directive.number);
  switch (directive.action) {
    case ActionKind::kErrno:
      errno = static_cast<int>(directive.number);
      return -1;
    case ActionKind::kShort:
      return below_.read(file, data, std::min<std::uint64_t>(size, number));
    case ActionKind::kBitflip:
    case ActionKind::kCorrupt: {
      const ssize_t count = below_.read(file, data, size);
      if (count > 0) {
        damage(directive, static_cast<char*>(data),
               static_cast<std::size_t>(count));
      }
      return count;
    }
    default:
      return below_.read(file, data, size);
  }
}

ssize_t FaultStore::write(int file, const void* data, std::size_t size) {
  const Directive directive = ask(write_);
  const auto number = static_cast<std::uint64_t>(directive.number);
  const std::size_t part =
      std::min<std::uint64_t>(size, static_cast<std::size_t>(number));
  std::string damaged;
  switch (directive.action) {
    case ActionKind::kErrno:
      errno = static_cast<int>(directive.number);
      return -1;
    case ActionKind::kShort:
      return below_.write(file, data, part);
    case ActionKind::kTorn: {
      const ssize_t written = below_.write(file, data, part);
      return written < 0 ? written : static_cast<ssize_t>(size);
    }
    case ActionKind::kBitflip:
    case ActionKind::kCorrupt:
      damaged.assign(static_cast<const char*>(data), size);
      damage(directive, damaged.data(), size);
      return below_.write(file, damaged.data(), size);
    default:
      return below_.write(file, data, size);
  }
}

int FaultStore::fsync(int file) {
  return is_refused(fsync_) ? -1 : below_.fsync(file);
}

int FaultStore::close(int file) {
  if (!is_refused(close_)) {
    return below_.close(file);
  }
  // The system closes the file too when it reports an error.
  const int number = errno;
  below_.close(file);
  errno = number;
  return -1;
}

int FaultStore::link(const char* from, const char* to) {
  return is_refused(link_) ? -1 : below_.link(from, to);
}

int FaultStore::rename(const char* from, const char* to) {
  return is_refused(rename_) ? -1 : below_.rename(from, to);
}

int FaultStore::unlink(const char* path) {
  return is_refused(unlink_) ? -1 : below_.unlink(path);
}

}  // namespace mishap
