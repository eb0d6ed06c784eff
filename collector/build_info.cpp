#include <mishap/collector/build_info.h>

namespace mishap::collector {

BuildInfo build_info() noexcept {
#if defined(__clang__)
  constexpr std::string_view kCompiler = "Clang " __clang_version__;
#else
  constexpr std::string_view kCompiler = "GCC " __VERSION__;
#endif
  return {.version = MISHAP_VERSION,
          .compiler = kCompiler,
          .type = MISHAP_BUILD_TYPE};
}

}  // namespace mishap::collector
