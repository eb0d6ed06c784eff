#include <dlfcn.h>
#include <mishap/collector/resolve/backend.h>

namespace mishap::collector::detail {

const std::string_view kBackendName = "none";

// The loader's own table: exported functions only, no lines.
std::vector<Frame> look_up(std::uintptr_t address, std::size_t,
                           NameCache& cache) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(address), &info) == 0 ||
      info.dli_sname == nullptr) {
    return {};
  }
  Frame frame;
  frame.symbol = cache.intern(info.dli_sname);
  frame.function = cache.readable(info.dli_sname);
  return {frame};
}

std::vector<Frame> look_up_in_file(const std::string&, std::uintptr_t,
                                   NameCache&) {
  return {};
}

}  // namespace mishap::collector::detail
