#include <mishap/collector/modules.h>
#include <mishap/collector/resolve/backend.h>
#include <mishap/collector/resolve/name_cache.h>
#include <mishap/collector/resolve/resolver.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

namespace mishap::collector {
namespace {

struct Resolver {
  std::mutex mutex;
  detail::NameCache cache;
};

// Never destroyed: errors are still resolved while the process exits.
Resolver& resolver() {
  static auto* instance = new Resolver;
  return *instance;
}

std::size_t copy_names(std::uintptr_t instruction, std::size_t module,
                       std::span<Frame> out) {
  Resolver& self = resolver();
  const std::lock_guard lock(self.mutex);
  const std::vector<Frame>* names = self.cache.find(instruction);
  if (names == nullptr) {
    names = &self.cache.insert(
        instruction, detail::look_up(instruction, module, self.cache));
  }
  const std::size_t kept = std::min(names->size(), out.size());
  std::copy_n(names->begin(), kept, out.begin());
  return kept;
}

}  // namespace

std::string_view resolver_backend() noexcept { return detail::kBackendName; }

std::size_t resolve(std::uintptr_t address, bool exact,
                    std::span<Frame> out) noexcept {
  if (out.empty()) {
    return 0;
  }
  const int module = find_module(address);
  std::size_t size = 0;
  if (module != kNoModule) {
    try {
      size = copy_names(address - (exact ? 0 : 1),
                        static_cast<std::size_t>(module), out);
    } catch (...) {
      size = 0;
    }
  }
  if (size == 0) {
    out[0] = Frame{};
    size = 1;
  }
  for (Frame& frame : out.first(size)) {
    frame.address = address;
  }
  return size;
}

}  // namespace mishap::collector
