#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/tasks/find_data.h>

#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

namespace mishap::tasks {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

fs::path find_in_named(const fs::path& folder, std::string_view name,
                       std::string_view origin) {
  fs::path file = folder / name;
  if (!is_there(file)) {
    throw InputError(folder.string() + " (" + std::string(origin) +
                     ") holds no " + std::string(name) +
                     ": name the folder that holds it, as the datasets folder "
                     "of the source tree does.");
  }
  return file;
}

std::vector<fs::path> default_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path root = executable.parent_path().parent_path();
    folders.push_back(root / "datasets");
    folders.push_back(root / "share/mishap/datasets");
  }
  folders.emplace_back(MISHAP_SOURCE_DATASETS);
  return folders;
}

}  // namespace

fs::path find_data(std::string_view name, const fs::path& folder) {
  if (!folder.empty()) return find_in_named(folder, name, "--data");
  const char* variable = std::getenv("MISHAP_DATASETS");
  if (variable != nullptr && *variable != '\0') {
    return find_in_named(variable, name, "MISHAP_DATASETS");
  }
  std::string searched;
  for (const fs::path& candidate : default_folders()) {
    if (is_there(candidate / name)) return candidate / name;
    searched += (searched.empty() ? "" : ", ") + candidate.string();
  }
  throw InputError("the data file " + std::string(name) + " was not found in " +
                   searched +
                   ": give its folder by --data or MISHAP_DATASETS.");
}

}  // namespace mishap::tasks
