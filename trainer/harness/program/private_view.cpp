#include <fcntl.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/program/kept_file.h>
#include <mishap/trainer/harness/program/private_view.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

namespace mishap::program {
namespace {

namespace fs = std::filesystem;

// More would take longer to copy than jobs save.
constexpr std::size_t kMaxFiles = 50'000;
constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 30;

bool lies_in(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + '/');
}

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

void write_map(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0 || write(file, text.data(), text.size()) !=
                      static_cast<ssize_t>(text.size())) {
    fail(path);
  }
  close(file);
}

void enter_namespace() {
  const auto user = std::to_string(geteuid());
  const auto group = std::to_string(getegid());
  if (unshare(CLONE_NEWNS) != 0) {
    if (errno != EPERM || unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
      fail("unshare");
    }
    write_map("/proc/self/setgroups", "deny");
    write_map("/proc/self/uid_map", user + ' ' + user + " 1");
    write_map("/proc/self/gid_map", group + ' ' + group + " 1");
  }
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    fail("mount");
  }
}

void bind_folder(const std::string& from, const std::string& to,
                 unsigned long more) {
  if (mount(from.c_str(), to.c_str(), nullptr, MS_BIND | more, nullptr) != 0) {
    fail(to);
  }
}

class TreeCopy {
 public:
  explicit TreeCopy(const std::string& out) : out_(out) {}

  void copy(const std::string& from, const std::string& to) {
    struct stat status {};
    if (lstat(from.c_str(), &status) != 0) {
      fail(from);
    }
    switch (status.st_mode & S_IFMT) {
      case S_IFDIR:
        fs::create_directory(to);
        // The sweep's own folder is seen through it.
        if (from != out_) {
          for (const auto& entry : fs::directory_iterator(from)) {
            const std::string name = entry.path().filename().string();
            copy(from + '/' + name, to + '/' + name);
          }
        }
        break;
      case S_IFREG: {
        const auto key = std::pair(status.st_dev, status.st_ino);
        const auto [first, is_new] = linked_.try_emplace(key, to);
        if (status.st_nlink > 1 && !is_new) {
          if (link(first->second.c_str(), to.c_str()) != 0) {
            fail(to);
          }
          return;
        }
        if (!copy_content(from, to)) {
          fail(from);
        }
        break;
      }
      case S_IFLNK:
        fs::copy_symlink(from, to);
        break;
      case S_IFIFO:
        mkfifo(to.c_str(), 0600);
        break;
      default:
        return;
    }
    [[maybe_unused]] const int owned =
        lchown(to.c_str(), status.st_uid, status.st_gid);
    if (!S_ISLNK(status.st_mode) &&
        chmod(to.c_str(), status.st_mode & 07777) != 0) {
      fail(to);
    }
    const timespec times[2] = {status.st_atim, status.st_mtim};
    utimensat(AT_FDCWD, to.c_str(), times, AT_SYMLINK_NOFOLLOW);
  }

 private:
  const std::string& out_;
  std::map<std::pair<dev_t, ino_t>, std::string> linked_;
};

void check_size(const std::string& folder, const std::string& out) {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
  const auto refuse = [&](const std::string& why) {
    throw InputError("--jobs gives each job a copy of " + folder + ", " + why +
                     "; use --jobs 1, or start the program in a smaller "
                     "folder");
  };
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    if (entry->path() == out) {
      entry.disable_recursion_pending();
      continue;
    }
    struct stat status {};
    if (lstat(entry->path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      bytes += static_cast<std::uint64_t>(status.st_size);
    }
    if (++files > kMaxFiles || bytes > kMaxBytes) {
      refuse("which has more than 50000 files or 4 GiB");
    }
  }
  if (error) {
    refuse("which can't be read as a whole");
  }
}

}  // namespace

PrivateView::PrivateView(const std::set<std::string>& folders, std::string out)
    : out_(std::move(out)) {
  std::error_code error;
  out_ = fs::canonical(out_).string();
  std::set<std::string> real;
  for (const std::string& folder : folders) {
    const fs::path path = fs::canonical(folder, error);
    if (!error) {
      real.insert(path.string());
    }
  }
  for (const std::string& folder : real) {
    const bool is_covered = std::ranges::any_of(
        folders_,
        [&](const std::string& outer) { return lies_in(folder, outer); });
    if (folder == "/" || lies_in(folder, out_)) {
      throw InputError(
          folder == "/"
              ? "--jobs can't give each job a copy of the folder /; use --jobs "
                "1, or start the program elsewhere"
              : "--jobs needs a folder of results that does not hold the "
                "program's files; name another one with --out");
    }
    if (!is_covered) {
      check_size(folder, out_);
      folders_.push_back(folder);
    }
  }
}

std::optional<std::string> PrivateView::why_not(const std::string& folder) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      enter_namespace();
      bind_folder(folder, folder, 0);
    } catch (const std::system_error& error) {
      _exit(error.code().value());
    } catch (...) {
      _exit(EPERM);
    }
    _exit(0);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child > 0 && status == 0) {
    return std::nullopt;
  }
  return "--jobs needs namespaces of users and mounts, which this machine or "
         "container refuses (" +
         std::string(strerror(
             child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EPERM)) +
         "); use --jobs 1, or run several with --shard I/N, each with its "
         "--out "
         "and in its own copy of the folder";
}

void PrivateView::enter(const std::string& place) const {
  const std::string current = fs::current_path().string();
  enter_namespace();
  for (std::size_t i = 0; i < folders_.size(); ++i) {
    TreeCopy(out_).copy(folders_[i], copy_of(place, i));
  }
  for (std::size_t i = 0; i < folders_.size(); ++i) {
    if (lies_in(out_, folders_[i])) {
      bind_folder(out_, copy_of(place, i) + out_.substr(folders_[i].size()), 0);
    }
  }
  for (std::size_t i = 0; i < folders_.size(); ++i) {
    bind_folder(copy_of(place, i), folders_[i], MS_REC);
  }
  if (chdir(current.c_str()) != 0) {
    fail(current);
  }
}

std::string PrivateView::behind(const std::string& place,
                                const std::string& path) const {
  const std::size_t slash = path.rfind('/');
  std::error_code error;
  const fs::path parent = fs::canonical(path.substr(0, slash + 1), error);
  if (error) {
    return path;
  }
  const std::string real = (parent / path.substr(slash + 1)).string();
  for (std::size_t i = 0; i < folders_.size(); ++i) {
    if (lies_in(real, folders_[i])) {
      return copy_of(place, i) + real.substr(folders_[i].size());
    }
  }
  return path;
}

void remove_tree(const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) {
    return;
  }
  std::error_code ended;
  chmod(folder.c_str(), 0700);
  for (fs::recursive_directory_iterator entry(folder, ended), end;
       !ended && entry != end; entry.increment(ended)) {
    if (entry->is_directory() && !entry->is_symlink()) {
      chmod(entry->path().c_str(), 0700);
    }
  }
  fs::remove_all(folder, error);
}

}  // namespace mishap::program
