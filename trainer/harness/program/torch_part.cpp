#include <fcntl.h>
#include <mishap/collector/build_info.h>
#include <mishap/faultinject/stable_hash.h>
#include <mishap/trainer/harness/cli/child.h>
#include <mishap/trainer/harness/program/libtorch_layout.h>
#include <mishap/trainer/harness/program/torch_part.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

namespace mishap::program {
namespace {

namespace fs = std::filesystem;

/// Below the folder with the sources, which is the include folder too.
constexpr std::string_view kSource =
    "mishap/trainer/harness/torch/program/operator_points.cpp";
constexpr std::array<std::string_view, 3> kFiles = {
    kSource, "mishap/trainer/harness/torch/program/libtorch_versions.h",
    "mishap/trainer/harness/preload/torch_door.h"};

/// Why the part can't be had: what is wrong, what to do.
class Problem : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// In a build folder beside the program or some folders above it, installed in
/// ../share.
fs::path sources_folder() {
  std::error_code error;
  fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (int up = 0; up < 4; ++up) {
    const fs::path place = folder / "share/mishap/torch_part";
    if (fs::exists(place / kSource, error)) {
      return place;
    }
    folder = folder.parent_path();
  }
  throw Problem(
      "share/mishap/torch_part, which belongs to Mishap, is not beside its "
      "programs; install Mishap anew");
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

fs::path cache_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') {
    return fs::path(cache) / "mishap";
  }
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') {
    return fs::path(home) / ".cache/mishap";
  }
  throw Problem(
      "neither XDG_CACHE_HOME nor HOME names a folder to keep them in; set "
      "XDG_CACHE_HOME");
}

/// Differs whenever the outcome may.
fs::path kept_place(const LibtorchLayout& layout, const fs::path& sources) {
  std::uint64_t hash = 0;
  for (const std::string_view file : kFiles) {
    hash = faultinject::chain_hash(
        hash, faultinject::stable_hash(text_of(sources / file)));
  }
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx",
                static_cast<unsigned long long>(hash));
  return cache_folder() / ("operators-" + layout.build + '-' +
                           std::string(collector::build_info().version) + '-' +
                           digits.data() + ".so");
}

bool is_in_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((fs::path(folder) / program).c_str(), X_OK) == 0) {
      return true;
    }
  }
  return false;
}

/// The compiler as words: CXX may hold options and a cache's name.
std::vector<std::string> compiler() {
  const char* const chosen = std::getenv("CXX");
  std::istringstream text(chosen == nullptr ? "" : chosen);
  std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
  for (const char* usual : {"c++", "g++", "clang++"}) {
    if (words.empty() && is_in_path(usual)) {
      words = {usual};
    }
  }
  if (words.empty()) {
    throw Problem("there is no C++ compiler; install g++ or set CXX");
  }
  return words;
}

std::string first_error(const std::string& text) {
  std::istringstream lines(text);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos) {
      return line;
    }
    if (first.empty()) {
      first = line;
    }
  }
  return first;
}

/// Empty when it has worked, else what the compiler said.
std::string compile(const LibtorchLayout& layout, const fs::path& sources,
                    const std::string& standard, const fs::path& result) {
  std::vector<std::string> words = compiler();
  const std::string name = words.front();
  words.insert(words.end(), {"-std=" + standard, "-O1", "-fPIC", "-shared",
                             "-w", "-x", "c++", "-I" + sources.string()});
  // Of the system's own folder the compiler has another view.
  if (layout.include != "/usr/include") {
    words.push_back("-I" + layout.include.string());
  }
  words.push_back(std::string("-D_GLIBCXX_USE_CXX11_ABI=") +
                  (layout.has_new_string ? "1" : "0"));
  words.insert(words.end(),
               {(sources / kSource).string(), "-x", "none", "-o",
                result.string(), layout.cpu.string(), layout.c10.string()});
  try {
    // It is no part of the program that is swept.
    const cli::ChildResult run =
        cli::run_child(words, {.set = {}, .unset = {"LD_PRELOAD"}});
    if (run.status == 0) {
      return {};
    }
    const std::string error = first_error(run.errors);
    return error.empty() ? "status " + std::to_string(run.status) : error;
  } catch (const std::system_error&) {
    throw Problem("the compiler " + name +
                  " can't be started; install g++ or set CXX");
  }
}

void compile_to(const fs::path& place, const LibtorchLayout& layout,
                const fs::path& sources) {
  if (layout.include.empty()) {
    throw Problem("LibTorch's headers are in neither " +
                  layout.searched[0].string() + " nor " +
                  layout.searched[1].string() +
                  "; install those that belong to " + layout.cpu.string() +
                  " (Debian: libtorch-dev)");
  }
  std::error_code error;
  fs::create_directories(place.parent_path(), error);
  std::string unfinished = place.string() + ".XXXXXX";
  const int file = error ? -1 : mkostemp(unfinished.data(), O_CLOEXEC);
  if (file < 0) {
    throw Problem("nothing can be kept in " + place.parent_path().string() +
                  "; set XDG_CACHE_HOME to a folder that can be written to");
  }
  close(file);
  try {
    // LibTorch of late asks for more than C++17, some compilers know no more.
    std::string said = compile(layout, sources, "c++17", unfinished);
    if (!said.empty() &&
        compile(layout, sources, "c++20", unfinished).empty()) {
      said.clear();
    }
    if (!said.empty()) {
      throw Problem("they can't be compiled against " + layout.cpu.string() +
                    " (" + said +
                    "); install headers and a compiler that fit it, or set "
                    "CXX");
    }
    fs::rename(unfinished, place);
  } catch (...) {
    fs::remove(unfinished, error);
    throw;
  }
}

}  // namespace

std::string torch_part_for(const std::string& libtorch_cpu,
                           std::string& problem) {
  problem.clear();
  try {
    const LibtorchLayout layout = libtorch_layout(libtorch_cpu);
    const fs::path sources = sources_folder();
    const fs::path place = kept_place(layout, sources);
    if (access(place.c_str(), R_OK) != 0) {
      compile_to(place, layout, sources);
    }
    return place.string();
  } catch (const Problem& error) {
    problem = std::string("operators are left out: ") + error.what();
  } catch (const fs::filesystem_error& error) {
    problem = std::string("operators are left out: ") + error.what() +
              "; set XDG_CACHE_HOME to a folder that can be written to";
  }
  return {};
}

}  // namespace mishap::program
