#include <mishap/trainer/harness/cli/child.h>
#include <mishap/trainer/harness/program/torch_of_program.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

namespace mishap::program {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libtorch_cpu.so";
constexpr const char* kAskPython =
    "import glob, importlib.util as u, os\n"
    "s = u.find_spec('torch')\n"
    "for p in glob.glob(os.path.dirname(s.origin) + '/_C*.so') if s else []:\n"
    "    print(p)\n";

std::string output_of(const std::vector<std::string>& words) {
  try {
    const cli::ChildResult result = cli::run_child(words, {{}, {"LD_PRELOAD"}});
    return result.status == 0 ? result.output : std::string();
  } catch (const std::system_error&) {
    return {};
  }
}

std::string found_in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    return program;
  }
  const char* const list = std::getenv("PATH");
  std::istringstream folders(list == nullptr ? "/usr/bin:/bin" : list);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code error;
    const std::string path = folder + '/' + program;
    if (fs::is_regular_file(path, error)) {
      return path;
    }
  }
  return program;
}

}  // namespace

std::string library_in(const std::string& ldd_output, const std::string& name) {
  std::istringstream lines(ldd_output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(name);
    const std::size_t arrow = line.find("=> /", at);
    const std::size_t end = line.rfind(" (");
    if (at != std::string::npos && arrow != std::string::npos &&
        end != std::string::npos && end > arrow + 3) {
      return line.substr(arrow + 3, end - arrow - 3);
    }
  }
  return {};
}

std::string torch_of_program(const std::vector<std::string>& words) {
  if (words.empty()) {
    return {};
  }
  std::string file = found_in_path(words.front());
  if (fs::path(file).filename().string().starts_with("python")) {
    std::istringstream lines(output_of({file, "-c", kAskPython}));
    file.clear();
    std::getline(lines, file);
  }
  return file.empty() ? std::string()
                      : library_in(output_of({"ldd", file}), kLibrary);
}

}  // namespace mishap::program
