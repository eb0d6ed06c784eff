#include <dlfcn.h>
#include <mishap/faultinject/pattern.h>
#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/file_filter.h>
#include <mishap/trainer/harness/preload/file_path.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace mishap::preload {
namespace {

struct Filter {
  std::vector<std::string> globs;
  // Folders and files that belong to the sweep.
  std::vector<std::string> own;
  // The folder of the records, which may be one of the program's too.
  std::string records;
};

// Never destroyed: files are closed until the very end.
const Filter* filter = nullptr;

constexpr std::array<std::string_view, 13> kSystem{
    "/usr/", "/lib/",  "/lib32/", "/lib64/", "/libx32/", "/bin/", "/sbin/",
    "/etc/", "/proc/", "/sys/",   "/dev/",   "/run/",    "/snap/"};

bool begins_with_one(std::string_view path,
                     const std::vector<std::string>& folders) noexcept {
  for (const std::string& folder : folders) {
    if (path.starts_with(folder) &&
        (path.size() == folder.size() || path[folder.size()] == '/')) {
      return true;
    }
  }
  return false;
}

// The library of some Python, wherever it was installed.
bool is_pythons(std::string_view path) noexcept {
  constexpr std::string_view kLibrary = "/lib/python";
  const std::size_t at = path.find(kLibrary);
  if (at != std::string_view::npos && at + kLibrary.size() < path.size()) {
    const char next = path[at + kLibrary.size()];
    return next >= '2' && next <= '9';
  }
  return path.ends_with(".pyc") || path.find("/__pycache__") != path.npos ||
         path.find(".pyc.") != path.npos;
}

bool is_systems(std::string_view path) noexcept {
  for (const std::string_view folder : kSystem) {
    if (path.starts_with(folder)) {
      return true;
    }
  }
  return is_pythons(path);
}

bool is_record(std::string_view path) noexcept {
  const std::string& folder = filter->records;
  if (folder.empty() || !path.starts_with(folder) ||
      path.size() <= folder.size() || path[folder.size()] != '/') {
    return false;
  }
  const std::string_view name = path.substr(folder.size() + 1);
  return name.starts_with("records.jsonl") || name.starts_with("runs.jsonl") ||
         name.starts_with(".mishap-");
}

bool is_own(std::string_view path) noexcept {
  return begins_with_one(path, filter->own) || is_record(path);
}

bool matches(std::string_view glob, std::string_view path) noexcept {
  if (glob.starts_with('/')) {
    return faultinject::level_matches(glob, path);
  }
  // Of whatever folder.
  for (std::size_t at = 0; at != std::string_view::npos;
       at = path.find('/', at + 1)) {
    if (at + 1 < path.size() &&
        faultinject::level_matches(glob, path.substr(at + 1))) {
      return true;
    }
  }
  return false;
}

std::string absolute(const char* path) {
  if (path == nullptr || *path == '\0') {
    return {};
  }
  PathRoom room;
  return std::string(absolute_path(AT_FDCWD, path, room));
}

void add_own(Filter& out, std::string path) {
  if (path.size() > 1) {
    out.own.push_back(std::move(path));
  }
}

}  // namespace

void read_file_filter(std::string_view globs, std::string_view control) {
  auto* const read = new Filter;
  for_each_line(globs,
                [&](std::string_view glob) { read->globs.emplace_back(glob); });
  const std::string file = absolute(std::string(control).c_str());
  add_own(*read, file.substr(0, file.rfind('/')));
  read->records = absolute(std::getenv("MISHAP_RECORDS"));
  Dl_info library{};
  if (dladdr(reinterpret_cast<void*>(&read_file_filter), &library) != 0) {
    add_own(*read, absolute(library.dli_fname));
  }
  filter = read;
}

bool is_point_file(std::string_view path) noexcept {
  if (!path.starts_with('/') || is_own(path)) {
    return false;
  }
  if (filter->globs.empty()) {
    return !is_systems(path);
  }
  for (const std::string& glob : filter->globs) {
    if (matches(glob, path)) {
      return true;
    }
  }
  return false;
}

bool is_told_file(std::string_view path) noexcept {
  const bool is_kernels =
      path.starts_with("/proc/") || path.starts_with("/sys/") ||
      (path.starts_with("/dev/") && !path.starts_with("/dev/shm/"));
  return path.starts_with('/') && !is_kernels && !is_own(path);
}

}  // namespace mishap::preload
