#include <mishap/collector/modules.h>
#include <mishap/collector/resolve/backend.h>
#include <mishap/collector/resolve/in_app.h>
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
  std::size_t unloads = 0;
};

// Never destroyed: errors are still resolved while the process exits.
Resolver& resolver() {
  static auto* instance = new Resolver;
  return *instance;
}

void place(Frame& frame, std::uintptr_t address, int module) {
  frame.address = address;
  frame.module = module;
  frame.offset = address;
  if (module != kNoModule) {
    frame.offset -= module_at(static_cast<std::size_t>(module)).load_address;
  }
}

std::vector<Frame> make_frames(std::uintptr_t instruction, int module,
                               detail::NameCache& cache) {
  std::vector<Frame> frames =
      detail::look_up(instruction, static_cast<std::size_t>(module), cache);
  if (frames.empty()) {
    frames.emplace_back();
  }
  for (Frame& frame : frames) {
    place(frame, instruction, module);
    frame.in_app = is_in_app(frame);
  }
  return frames;
}

// Null for an address outside all modules, whose code may change at any time.
const std::vector<Frame>* frames_at(Resolver& self,
                                    std::uintptr_t instruction) {
  if (self.unloads != module_unloads()) {
    self.unloads = module_unloads();
    self.cache.forget_addresses();
  }
  const std::vector<Frame>* known = self.cache.find(instruction);
  if (known != nullptr) {
    return known;
  }
  const int module = find_module(instruction);
  return module == kNoModule
             ? nullptr
             : &self.cache.insert(instruction,
                                  make_frames(instruction, module, self.cache));
}

std::size_t copy_frames(std::uintptr_t instruction, std::span<Frame> out) {
  Resolver& self = resolver();
  const std::lock_guard lock(self.mutex);
  const std::vector<Frame>* frames = frames_at(self, instruction);
  if (frames == nullptr) {
    return 0;
  }
  const std::size_t kept = std::min(frames->size(), out.size());
  std::copy_n(frames->begin(), kept, out.begin());
  return kept;
}

}  // namespace

std::string_view resolver_backend() noexcept { return detail::kBackendName; }

Frame locate(std::uintptr_t address) noexcept {
  Frame frame;
  place(frame, address, find_module(address));
  return frame;
}

std::vector<Frame> names_in_file(const std::string& path, std::uintptr_t offset,
                                 bool foreign) {
  Resolver& self = resolver();
  const std::lock_guard lock(self.mutex);
  std::vector<Frame> frames = detail::look_up_in_file(path, offset, self.cache);
  for (Frame& frame : frames) {
    frame.in_app = is_in_app(frame.symbol, frame.function, frame.file, foreign);
  }
  return frames;
}

std::size_t resolve(std::uintptr_t address, bool exact,
                    std::span<Frame> out) noexcept {
  if (out.empty()) {
    return 0;
  }
  const std::uintptr_t back = exact ? 0 : 1;
  std::size_t size = 0;
  try {
    size = copy_frames(address - back, out);
  } catch (...) {
    size = 0;
  }
  if (size == 0) {
    out[0] = locate(address);
    return 1;
  }
  for (Frame& frame : out.first(size)) {
    frame.address += back;
    frame.offset += back;
  }
  return size;
}

}  // namespace mishap::collector
