#include <mishap/trainer/harness/program/path_pattern.h>

#include <filesystem>
#include <system_error>

namespace mishap::program {
namespace {

bool matches(std::string_view glob, std::string_view text) {
  if (glob.empty()) {
    return text.empty();
  }
  if (glob.starts_with("**")) {
    glob.remove_prefix(2);
    // "a/**/b" takes in "a/b" too.
    if (glob.starts_with('/') && matches(glob.substr(1), text)) {
      return true;
    }
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (matches(glob, text.substr(i))) {
        return true;
      }
    }
    return false;
  }
  if (glob.front() == '*') {
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (matches(glob.substr(1), text.substr(i))) {
        return true;
      }
      if (i < text.size() && text[i] == '/') {
        break;
      }
    }
    return false;
  }
  if (text.empty()) {
    return false;
  }
  const bool fits =
      glob.front() == '?' ? text.front() != '/' : glob.front() == text.front();
  return fits && matches(glob.substr(1), text.substr(1));
}

std::string full(std::string_view glob, const std::string& current_folder) {
  return std::filesystem::path(current_folder)
      .append(std::string(glob))
      .lexically_normal()
      .string();
}

}  // namespace

bool path_matches(std::string_view glob, const std::string& path,
                  const std::string& current_folder) {
  if (glob.find('/') == std::string_view::npos) {
    return matches(glob, std::string_view(path).substr(path.rfind('/') + 1));
  }
  return matches(full(glob, current_folder), path);
}

std::string folder_of_glob(std::string_view glob,
                           const std::string& current_folder) {
  const std::string whole = full(glob, current_folder);
  const std::size_t star = whole.find_first_of("*?");
  const std::size_t slash = whole.rfind('/', star);
  return slash == 0 || slash == std::string::npos ? "/"
                                                  : whole.substr(0, slash);
}

std::vector<std::string> files_matching(std::string_view glob,
                                        const std::string& current_folder) {
  std::vector<std::string> found;
  const std::string folder = folder_of_glob(glob, current_folder);
  if (folder == "/") {
    return found;
  }
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(
      folder, std::filesystem::directory_options::skip_permission_denied,
      error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator();
       entry.increment(error)) {
    const std::string path = entry->path().string();
    std::error_code gone;
    if (path_matches(glob, path, current_folder) &&
        entry->is_regular_file(gone)) {
      found.push_back(path);
    }
  }
  return found;
}

}  // namespace mishap::program
