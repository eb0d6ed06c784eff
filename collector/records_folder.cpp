#include <fcntl.h>
#include <mishap/collector/io/append_line.h>
#include <mishap/collector/io/bounded_write.h>
#include <mishap/collector/io/quiet_signals.h>
#include <mishap/collector/sink.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

namespace mishap::collector {
namespace {

constexpr std::string_view kRemedy =
    "; name another one with --records or MISHAP_RECORDS";

std::string sentence(const std::string& folder, std::string_view verb,
                     int error) {
  return "the records folder " + folder + " cannot be " + std::string(verb) +
         ": " + std::string(error_text(error)) + std::string(kRemedy);
}

// Writes as much as a record takes, since a full disk lets files be made.
int try_to_write(const std::string& folder) {
  const QuietSignals quiet;
  std::string name = folder + "/.mishap-probe-XXXXXX";
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return errno;
  unlink(name.c_str());
  const std::string block(16 * 1024, '\n');
  const ssize_t written = write(file, block.data(), block.size());
  int error = 0;
  if (written < 0) {
    error = errno;
  } else if (static_cast<std::size_t>(written) < block.size()) {
    error = ENOSPC;
  }
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

// The folders of the path that are not there, outermost first.
std::vector<std::string> missing_folders(const std::string& folder) {
  std::vector<std::string> missing;
  std::filesystem::path path = folder;
  std::error_code error;
  while (!path.empty() && !std::filesystem::exists(path, error) && !error) {
    missing.insert(missing.begin(), path.string());
    if (path == path.parent_path()) break;
    path = path.parent_path();
  }
  return missing;
}

}  // namespace

std::string records_folder(std::string_view fallback) {
  const char* const named = getenv("MISHAP_RECORDS");
  return named != nullptr && *named != '\0' ? named : std::string(fallback);
}

std::optional<std::string> probe_folder(const std::string& folder) {
  struct stat status {};
  if (stat(folder.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
    return "the records folder " + folder + " is a file" + std::string(kRemedy);
  }
  const std::vector<std::string> made = missing_folders(folder);
  std::optional<std::string> problem;
  if (const int error = make_folders(folder)) {
    problem = sentence(folder, "made", error);
  } else if (const int write_error = try_to_write(folder)) {
    problem = sentence(folder, "written", write_error);
  }
  for (auto path = made.rbegin(); path != made.rend(); ++path) {
    rmdir(path->c_str());
  }
  return problem;
}

}  // namespace mishap::collector
