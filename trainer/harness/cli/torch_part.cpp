#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/torch_part.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace mishap::cli {
namespace {

[[noreturn]] void become(const std::string& path,
                         const Invocation& invocation) {
  std::vector<std::string> words = invocation.words;
  words.insert(words.begin(), {invocation.program, invocation.command});
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  execv(path.c_str(), arguments.data());
  throw InputError(path + " cannot be started: " + std::strerror(errno));
}

}  // namespace

std::string program_folder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error)
      .parent_path()
      .string();
}

std::string front_program() {
  std::error_code error;
  const std::filesystem::path own =
      std::filesystem::read_symlink("/proc/self/exe", error);
  if (own.filename() == "mishap-torch") {
    for (const char* place : {"mishap", "../../bin/mishap"}) {
      const std::filesystem::path front =
          (own.parent_path() / place).lexically_normal();
      if (std::filesystem::exists(front, error)) {
        return front.string();
      }
    }
  }
  return own.string();
}

std::vector<std::string> torch_part_places() {
  const std::string folder = program_folder();
  const std::filesystem::path installed =
      std::filesystem::path(folder) / "../libexec/mishap/mishap-torch";
  return {folder + "/mishap-torch", installed.lexically_normal().string()};
}

std::string find_torch_part() {
  for (const std::string& place : torch_part_places()) {
    if (access(place.c_str(), X_OK) == 0) {
      return place;
    }
  }
  return {};
}

Command torch_command(std::string name, std::string summary) {
  return {std::move(name), std::move(summary),
          [](const Invocation& invocation) -> int {
            const std::string path = find_torch_part();
            if (path.empty()) {
              const std::vector<std::string> places = torch_part_places();
              throw InputError("'" + invocation.name() +
                               "' needs LibTorch and is done by " + places[0] +
                               " or " + places[1] +
                               ", which are not there; build Mishap with "
                               "LibTorch (-DMISHAP_WITH_TORCH=ON)");
            }
            become(path, invocation);
          }};
}

}  // namespace mishap::cli
