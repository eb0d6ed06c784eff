#include <mishap/trainer/guard/no_file_size_signal.h>
#include <mishap/trainer/guard/replace_file.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

namespace mishap {
namespace {

// Of what a save creates beside the file: ".<name>.mishap-<pid>-<number>".
constexpr std::string_view kMark = ".mishap-";

// Throws for the call that failed last.
[[noreturn]] void fail(const char* call, const std::string& path) {
  throw FileError(call, path, errno);
}

// A name beside the file; removed at the end unless it was given up.
class Beside {
 public:
  Beside(std::string path, FileStore& store)
      : path_(std::move(path)), store_(store) {}
  ~Beside() {
    if (!exists_) {
      return;
    }
    try {
      if (store_.unlink(path_.c_str()) == 0) {
        return;
      }
    } catch (...) {
      // Nobody is to hear of it: what was saved is in place.
    }
    ::unlink(path_.c_str());
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  const std::string& path() const noexcept { return path_; }
  const char* c_str() const noexcept { return path_.c_str(); }
  bool exists() const noexcept { return exists_; }
  void made() noexcept { exists_ = true; }
  void gone() noexcept { exists_ = false; }

 private:
  std::string path_;
  FileStore& store_;
  bool exists_ = false;
};

class Descriptor {
 public:
  Descriptor(int number, FileStore& store) : number_(number), store_(store) {}
  ~Descriptor() {
    // Only after an error: that one is told.
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const noexcept { return number_; }
  int close() {
    const int number = std::exchange(number_, -1);
    try {
      return store_.close(number);
    } catch (...) {
      ::close(number);
      throw;
    }
  }

 private:
  int number_;
  FileStore& store_;
};

void write_all(int file, std::string_view bytes, const std::string& path,
               FileStore& store) {
  while (!bytes.empty()) {
    const ssize_t written = store.write(file, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      fail("write", path);
    }
    if (written == 0) {
      errno = EIO;
      fail("write", path);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void sync_folder(const std::string& folder, FileStore& store) {
  Descriptor opened(store.open_folder(folder.c_str()), store);
  if (opened.number() < 0) {
    fail("open", folder);
  }
  // Some file systems cannot sync a folder; they need not either.
  if (store.fsync(opened.number()) != 0 && errno != EINVAL) {
    fail("fsync", folder);
  }
}

// What saves of this process are writing now, on any thread.
class LiveNames {
 public:
  static LiveNames& all() {
    static LiveNames names;
    return names;
  }
  void add(const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_.insert(name);
  }
  void drop(const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_.erase(name);
  }
  bool has(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return names_.contains(name);
  }

 private:
  std::mutex mutex_;
  std::set<std::string> names_;
};

class LiveName {
 public:
  explicit LiveName(std::string name) : name_(std::move(name)) {
    LiveNames::all().add(name_);
  }
  ~LiveName() { LiveNames::all().drop(name_); }
  LiveName(const LiveName&) = delete;
  LiveName& operator=(const LiveName&) = delete;

 private:
  std::string name_;
};

// The process that made such a file, when it is one. `prefix` ends in the mark.
std::optional<pid_t> maker(std::string_view name, std::string_view prefix) {
  const std::size_t mark = prefix == kMark && name.starts_with('.')
                               ? name.rfind(kMark)
                           : name.starts_with(prefix) ? 0
                                                      : name.npos;
  if (mark == name.npos) {
    return std::nullopt;
  }
  name.remove_prefix(mark + prefix.size());
  pid_t process = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, process);
  return error == std::errc() && process > 0 && stop != end && *stop == '-'
             ? std::optional(process)
             : std::nullopt;
}

// What killed saves of this file left. Best effort: a save must not fail by it.
void remove_stale(const std::filesystem::path& folder, std::string_view prefix,
                  FileStore& store) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::optional<pid_t> process =
        maker(entry->path().filename().native(), prefix);
    const bool is_dead = process && kill(*process, 0) != 0 && errno == ESRCH;
    const bool is_ours =
        process == getpid() && !LiveNames::all().has(entry->path().filename());
    if (is_dead || is_ours) {
      store.unlink(entry->path().c_str());
    }
  }
}

// Where a symbolic link leads, also when nothing is there.
std::filesystem::path target_of(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  std::filesystem::path target = path;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!std::filesystem::is_symlink(target, error) || error) {
      return target;
    }
    const auto next = std::filesystem::read_symlink(target, error);
    if (error) {
      return target;
    }
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  throw FileError("open", path, ELOOP);
}

}  // namespace

void remove_stale_files(const std::string& folder, FileStore& store) {
  remove_stale(folder, kMark, store);
}

void replace_file(const std::string& path, std::string_view bytes,
                  FileStore& store) {
  static std::atomic<unsigned> number{0};
  const detail::NoFileSizeSignal quiet;
  const std::filesystem::path target = target_of(path);
  const std::filesystem::path folder =
      target.has_parent_path() ? target.parent_path() : ".";
  const std::string prefix =
      '.' + target.filename().native() + std::string(kMark);
  remove_stale(folder, prefix, store);
  const std::string name =
      prefix + std::to_string(getpid()) + '-' + std::to_string(number++);
  const LiveName live(name);
  const LiveName live_old(name + "-old");
  Beside fresh((folder / name).native(), store);
  Beside old((folder / (name + "-old")).native(), store);

  Descriptor file(store.create(fresh.c_str()), store);
  if (file.number() < 0) {
    fail("open", fresh.path());
  }
  fresh.made();
  write_all(file.number(), bytes, fresh.path(), store);
  if (store.fsync(file.number()) != 0) {
    fail("fsync", fresh.path());
  }
  if (file.close() != 0) {
    fail("close", fresh.path());
  }
  // A second name for the old file, should the folder refuse to be synced.
  bool is_new = false;
  if (store.link(target.c_str(), old.c_str()) == 0) {
    old.made();
  } else if (errno == ENOENT) {
    is_new = true;
  } else if (errno != EPERM && errno != EOPNOTSUPP) {
    fail("link", target.native());
  }
  if (store.rename(fresh.c_str(), target.c_str()) != 0) {
    fail("rename", fresh.path());
  }
  fresh.gone();
  try {
    sync_folder(folder.native(), store);
  } catch (...) {
    // Whether the new name is durable is unknown: back to the old one,
    // where the file system has second names.
    if (is_new) {
      store.unlink(target.c_str());
    } else if (old.exists() && store.rename(old.c_str(), target.c_str()) == 0) {
      old.gone();
    }
    throw;
  }
}

}  // namespace mishap
