#include <dirent.h>
#include <fcntl.h>
#include <mishap/trainer/harness/program/kept_files.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace mishap::program {
namespace {

namespace fs = std::filesystem;

bool is_inside(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + '/');
}

template <class Use>
void each_entry(const std::string& folder, Use use) {
  DIR* const open = opendir(folder.c_str());
  if (open == nullptr) {
    return;
  }
  const std::string before = folder == "/" ? "/" : folder + '/';
  while (const dirent* entry = readdir(open)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") {
      use(before + name);
    }
  }
  closedir(open);
}

void set_times(const std::string& path, const KeptFile& file) {
  const timespec times[2] = {{0, UTIME_OMIT}, file.modified};
  utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

// All is equal but when the inode was changed, which a second name does too.
bool may_be_same(const KeptFile& old, const KeptFile& now) {
  KeptFile other = now;
  other.changed = old.changed;
  return old.copy && old.looks_like(other);
}

void remove_all(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
}

}  // namespace

KeptFiles::KeptFiles(std::string scratch, std::vector<std::string> left_alone)
    : scratch_(std::move(scratch)), left_alone_(std::move(left_alone)) {
  left_alone_.push_back(scratch_);
  // What a shell redirects our own output to grows while we look at it.
  for (const int number : {0, 1, 2}) {
    struct stat status {};
    if (fstat(number, &status) == 0 && S_ISREG(status.st_mode)) {
      own_streams_.insert({status.st_dev, status.st_ino});
    }
  }
}

bool KeptFiles::watch_tree(const std::string& folder, std::size_t max_files) {
  std::set<std::string> found{folder};
  std::vector<std::string> open{folder};
  std::size_t files = 0;
  while (!open.empty()) {
    const std::string next = open.back();
    open.pop_back();
    each_entry(next, [&](const std::string& path) {
      KeptFile file;
      if (files <= max_files && !is_left_alone(path) && look_at(path, file)) {
        ++files;
        if (file.kind == FileKind::kFolder && found.insert(path).second) {
          open.push_back(path);
        }
      }
    });
    if (files > max_files) {
      return false;
    }
  }
  folders_.merge(found);
  return true;
}

void KeptFiles::forget() {
  folders_.clear();
  files_.clear();
}

bool KeptFiles::is_left_alone(const std::string& path) const {
  return std::ranges::any_of(left_alone_, [&](const std::string& folder) {
    return is_inside(path, folder);
  });
}

KeptState KeptFiles::look() const {
  KeptState state;
  const auto add = [&](const std::string& path) {
    KeptFile file;
    if (!is_left_alone(path) && look_at(path, file) &&
        !own_streams_.contains({file.device, file.inode})) {
      state.emplace(path, std::move(file));
    }
  };
  for (const std::string& folder : folders_) {
    add(folder);
    each_entry(folder, add);
  }
  std::ranges::for_each(files_, add);
  return state;
}

std::string KeptFiles::next_name() {
  return scratch_ + "/kept-" + std::to_string(++numbers_);
}

void KeptFiles::keep(const std::string& path, KeptFile& file) {
  const auto before = known_.find(path);
  if (before != known_.end()) {
    const KeptFile& old = before->second;
    if (old.inode == file.inode && old.device == file.device) {
      file.name = old.name;
    }
    if (old.copy && old.looks_like(file) &&
        (!old.is_recent || same_content(path, old.copy->path()))) {
      file.copy = old.copy;
    }
  }
  if (!file.name) {
    const std::string name = next_name();
    if (link(behind_(path).c_str(), name.c_str()) == 0) {
      file.name = std::make_shared<HeldFile>(name);
    } else if (without_inode_.empty()) {
      without_inode_ = path;
    }
  }
  if (!file.copy && (file.size <= copy_limit_ || files_.contains(path))) {
    const std::string name = next_name();
    auto copy = std::make_shared<HeldFile>(name);
    if (copy_content(path, name)) {
      file.copy = std::move(copy);
    }
  }
  // A second name changes the times of the inode.
  KeptFile now;
  if (look_at(path, now)) {
    file.changed = now.changed;
    file.is_recent = now.is_recent;
  }
}

KeptState KeptFiles::take() {
  KeptState state = look();
  for (auto& [path, file] : state) {
    if (file.kind == FileKind::kFile) {
      keep(path, file);
    }
  }
  known_ = state;
  return state;
}

FileChanges KeptFiles::compare(const KeptState& state) const {
  FileChanges changes;
  const KeptState now = look();
  for (const auto& [path, file] : now) {
    const auto before = state.find(path);
    if (before == state.end()) {
      changes.added.push_back(path);
      continue;
    }
    const KeptFile& old = before->second;
    const bool is_same =
        old.looks_like(file)
            ? !old.is_recent || !old.copy ||
                  same_content(path, old.copy->path())
            : may_be_same(old, file) && same_content(path, old.copy->path());
    if (!is_same) {
      changes.changed.push_back(path);
    }
  }
  for (const auto& [path, file] : state) {
    if (!now.contains(path)) {
      changes.removed.push_back(path);
    }
  }
  return changes;
}

bool KeptFiles::set_aside(const std::string& path) {
  const std::string folder = scratch_ + "/../../aside";
  std::error_code error;
  fs::create_directories(folder, error);
  const std::string target = folder + '/' + std::to_string(++put_aside_) + '-' +
                             path.substr(path.rfind('/') + 1);
  fs::copy(path, target,
           fs::copy_options::recursive | fs::copy_options::copy_symlinks |
               fs::copy_options::overwrite_existing,
           error);
  return !error;
}

void KeptFiles::remove_added(const std::string& path, bool is_ours) {
  if (is_ours || set_aside(path)) {
    remove_all(path);
  }
}

bool KeptFiles::bring_back(const std::string& path, const KeptFile& file,
                           bool is_ours) {
  KeptFile now;
  bool exists = look_at(path, now);
  if (exists && !is_ours && now.kind == FileKind::kFile && !set_aside(path)) {
    return false;
  }
  if (exists && now.kind != file.kind) {
    remove_all(path);
    exists = false;
  }
  switch (file.kind) {
    case FileKind::kFolder:
      if (!exists && mkdir(path.c_str(), 0700) != 0) {
        return false;
      }
      return chmod(path.c_str(), file.mode) == 0;
    case FileKind::kLink:
      if (exists && now.target == file.target) {
        return true;
      }
      unlink(path.c_str());
      return symlink(file.target.c_str(), path.c_str()) == 0;
    case FileKind::kOther:
      return exists;
    case FileKind::kFile:
      break;
  }
  if ((!exists || now.inode != file.inode) && file.name) {
    unlink(path.c_str());
    exists = link(file.name->path().c_str(), behind_(path).c_str()) == 0;
  }
  if (!file.copy) {
    // Only the name was kept: good as long as the content is untouched.
    return exists && look_at(path, now) && now.size == file.size &&
           now.modified.tv_sec == file.modified.tv_sec &&
           now.modified.tv_nsec == file.modified.tv_nsec;
  }
  if (exists && (access(path.c_str(), W_OK) != 0)) {
    chmod(path.c_str(), 0600);
  }
  const std::string& copy = file.copy->path();
  const bool is_good =
      exists ? same_content(path, copy) || overwrite_content(copy, path)
             : copy_content(copy, path);
  const bool has_mode = chmod(path.c_str(), file.mode) == 0;
  set_times(path, file);
  return is_good && has_mode;
}

std::vector<std::string> KeptFiles::put_back(
    KeptState& state, const std::function<bool(const std::string&)>& is_ours) {
  const FileChanges changes = compare(state);
  std::vector<std::string> lost;
  std::set<std::string> moved;
  // A folder that was renamed has all that is in it: its name goes back.
  for (const std::string& path : changes.removed) {
    const KeptFile& folder = state.at(path);
    for (const std::string& other : changes.added) {
      KeptFile now;
      if (folder.kind == FileKind::kFolder && look_at(other, now) &&
          now.kind == FileKind::kFolder && now.inode == folder.inode &&
          now.device == folder.device &&
          rename(other.c_str(), path.c_str()) == 0) {
        moved.insert(other);
        break;
      }
    }
  }
  // What lies in a folder before the folder.
  for (auto path = changes.added.rbegin(); path != changes.added.rend();
       ++path) {
    if (!moved.contains(*path)) {
      remove_added(*path, is_ours(*path));
    }
  }
  std::vector<std::string> wanted = changes.changed;
  wanted.insert(wanted.end(), changes.removed.begin(), changes.removed.end());
  // A folder before what lies in it.
  std::ranges::sort(wanted);
  for (const std::string& path : wanted) {
    KeptFile& file = state.at(path);
    if (!bring_back(path, file, is_ours(path))) {
      lost.push_back(path);
      continue;
    }
    // What the kernel says of it now is how it has to be found next time.
    KeptFile now;
    if (look_at(path, now)) {
      now.copy = file.copy;
      now.name = file.name;
      file = now;
      known_[path] = now;
    }
  }
  return lost;
}

std::uint64_t KeptFiles::hash_of(const std::string& path) {
  KeptFile now;
  if (!look_at(path, now) || now.kind != FileKind::kFile) {
    return 0;
  }
  auto& [seen, hash] = hashes_[path];
  if (hash == 0 || seen.is_recent || !seen.looks_like(now)) {
    hash = content_hash(path);
    seen = now;
  }
  return hash;
}

}  // namespace mishap::program
