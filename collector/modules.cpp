#include <elf.h>
#include <link.h>
#include <mishap/collector/modules.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace mishap::collector {
namespace {

// Modules are never freed and the list only grows, so that readers need no
// lock: records refer to modules by index.
constexpr std::size_t kCapacity = 4096;
constinit std::array<std::atomic<const Module*>, kCapacity> modules{};
constinit std::array<std::atomic<bool>, kCapacity> unloaded{};
constinit std::atomic<std::size_t> count = 0;
constinit std::atomic<std::size_t> unloads = 0;

constinit std::mutex refreshing;

struct Listing {
  std::vector<Module> loaded;
  unsigned long long adds = 0;
  unsigned long long subs = 0;
  bool complete = true;
};

// The loader's counters at the last complete refresh.
constinit unsigned long long seen_adds = 0;
constinit unsigned long long seen_subs = 0;

std::string executable_path() {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<std::size_t>(size))
                  : std::string();
}

std::size_t padded(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

void read_build_id(const ElfW(Phdr) & segment, Module& module) {
  const auto* note =
      reinterpret_cast<const char*>(module.load_address + segment.p_vaddr);
  const char* end = note + segment.p_memsz;
  const std::size_t alignment = segment.p_align == 8 ? 8 : 4;
  while (end - note >= static_cast<std::ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note, sizeof(header));
    const char* name = note + sizeof(header);
    const char* id = note + padded(sizeof(header) + header.n_namesz, alignment);
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(name, "GNU", 4) == 0) {
      const std::size_t size =
          std::min<std::size_t>(header.n_descsz, module.build_id.size());
      std::memcpy(module.build_id.data(), id, size);
      module.build_id_size = static_cast<std::uint8_t>(size);
      return;
    }
    note = id + padded(header.n_descsz, alignment);
  }
}

Module describe(const dl_phdr_info& info) {
  Module module;
  module.load_address = info.dlpi_addr;
  module.is_executable = *info.dlpi_name == '\0';
  module.path = module.is_executable ? executable_path() : info.dlpi_name;
  module.begin = UINTPTR_MAX;
  for (std::size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD) {
      const std::uintptr_t begin = module.load_address + segment.p_vaddr;
      module.begin = std::min(module.begin, begin);
      module.end = std::max(module.end, begin + segment.p_memsz);
    } else if (segment.p_type == PT_NOTE && module.build_id_size == 0) {
      read_build_id(segment, module);
    }
  }
  module.begin = std::min(module.begin, module.end);
  return module;
}

int list_module(dl_phdr_info* info, std::size_t, void* data) {
  auto& listing = *static_cast<Listing*>(data);
  listing.adds = info->dlpi_adds;
  listing.subs = info->dlpi_subs;
  if (listing.adds == seen_adds && listing.subs == seen_subs) {
    return 1;
  }
  // The loader's own frames must not be unwound through.
  try {
    listing.loaded.push_back(describe(*info));
  } catch (...) {
    listing.complete = false;
    return 1;
  }
  return 0;
}

std::string_view folder_of(std::string_view path) {
  return path.substr(0, path.rfind('/') + 1);
}

std::string_view libtorch_folder(const std::vector<Module>& loaded) {
  for (const Module& module : loaded) {
    const std::string_view path = module.path;
    if (path.substr(folder_of(path).size()).starts_with("libc10.so")) {
      return folder_of(path);
    }
  }
  return {};
}

bool is_foreign(const Module& module, std::string_view torch_folder) {
  const std::string_view path = module.path;
  if (is_system_module(path)) {
    return true;
  }
  if (module.is_executable) {
    return false;
  }
  return !torch_folder.empty() && folder_of(path) == torch_folder;
}

bool same_module(const Module& a, const Module& b) {
  return a.begin == b.begin && a.end == b.end && a.path == b.path &&
         a.build_id == b.build_id;
}

std::size_t index_of(const Module& module) {
  const std::size_t known = module_count();
  std::size_t index = 0;
  while (index < known && !same_module(module_at(index), module)) {
    ++index;
  }
  return index;
}

void publish(Module&& module) {
  const std::size_t index = index_of(module);
  if (index < module_count()) {
    unloaded[index].store(false, std::memory_order_release);
  } else if (index < kCapacity) {
    auto owned = std::make_unique<const Module>(std::move(module));
    modules[index].store(owned.release(), std::memory_order_release);
    count.store(index + 1, std::memory_order_release);
  }
}

void mark_unloaded(const std::vector<Module>& loaded) {
  for (std::size_t index = 0; index < module_count(); ++index) {
    const bool gone = std::none_of(
        loaded.begin(), loaded.end(),
        [index](const Module& m) { return same_module(module_at(index), m); });
    if (gone && !unloaded[index].exchange(true, std::memory_order_acq_rel)) {
      unloads.fetch_add(1, std::memory_order_release);
    }
  }
}

void refresh() {
  Listing listing;
  dl_iterate_phdr(list_module, &listing);
  if (listing.loaded.empty()) {
    return;
  }
  if (listing.complete) {
    mark_unloaded(listing.loaded);
  }
  const std::string torch_folder(libtorch_folder(listing.loaded));
  for (Module& module : listing.loaded) {
    module.is_foreign = is_foreign(module, torch_folder);
    publish(std::move(module));
  }
  if (listing.complete) {
    seen_adds = listing.adds;
    seen_subs = listing.subs;
  }
}

}  // namespace

bool is_system_module(std::string_view path) noexcept {
  // Programs of the distribution too: an interpreter's frames are not the
  // user's.
  for (const std::string_view system :
       {"/lib", "/usr/lib", "/bin/", "/usr/bin/", "linux-vdso"}) {
    if (path.starts_with(system)) {
      return true;
    }
  }
  return false;
}

std::string Module::build_id_hex() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (std::size_t i = 0; i < build_id_size; ++i) {
    hex += kDigits[build_id[i] >> 4U];
    hex += kDigits[build_id[i] & 0xFU];
  }
  return hex;
}

void refresh_modules() noexcept {
  try {
    const std::lock_guard lock(refreshing);
    refresh();
  } catch (...) {
  }
}

std::size_t module_count() noexcept {
  return count.load(std::memory_order_acquire);
}

std::size_t module_unloads() noexcept {
  return unloads.load(std::memory_order_acquire);
}

const Module& module_at(std::size_t index) noexcept {
  return *modules[index].load(std::memory_order_acquire);
}

int find_known_module(std::uintptr_t address) noexcept {
  for (std::size_t index = module_count(); index-- > 0;) {
    const Module& module = module_at(index);
    if (address >= module.begin && address < module.end &&
        !unloaded[index].load(std::memory_order_acquire)) {
      return static_cast<int>(index);
    }
  }
  return kNoModule;
}

int find_module(std::uintptr_t address) noexcept {
  const int known = find_known_module(address);
  if (known != kNoModule) {
    return known;
  }
  refresh_modules();
  return find_known_module(address);
}

}  // namespace mishap::collector
