#include <mishap/trainer/harness/cli/preload.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace mishap::cli {
namespace {

std::string in_front_of(const char* variable, const std::string& value) {
  const char* const others = std::getenv(variable);
  return others == nullptr || *others == '\0' ? value : value + ':' + others;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> preload_variables() {
  std::error_code error;
  const std::filesystem::path here =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* const place :
       {"libmishap_preload.so", MISHAP_PRELOAD_FROM_BIN}) {
    const std::string library = (here / place).lexically_normal().string();
    // The loader takes a list apart at spaces and colons.
    if (std::filesystem::exists(library, error) &&
        library.find_first_of(" :") == std::string::npos) {
      return {{"LD_PRELOAD", in_front_of("LD_PRELOAD", library)},
              // Its runtime refuses to come second otherwise.
              {"ASAN_OPTIONS",
               in_front_of("ASAN_OPTIONS", "verify_asan_link_order=0")}};
    }
  }
  return {};
}

}  // namespace mishap::cli
