#include <mishap/trainer/harness/cli/preload.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace mishap::cli {

std::optional<std::pair<std::string, std::string>> preload_variable() {
  std::error_code error;
  const std::filesystem::path here =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* const place :
       {"libmishap_preload.so", "../lib/mishap/libmishap_preload.so"}) {
    const std::filesystem::path library = (here / place).lexically_normal();
    // The loader takes a list apart at spaces and colons.
    if (!std::filesystem::exists(library, error) ||
        library.string().find_first_of(" :") != std::string::npos) {
      continue;
    }
    const char* const others = std::getenv("LD_PRELOAD");
    return std::pair("LD_PRELOAD", others == nullptr || *others == '\0'
                                       ? library.string()
                                       : library.string() + ':' + others);
  }
  return std::nullopt;
}

}  // namespace mishap::cli
