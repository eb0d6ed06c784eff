#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <mishap/collector/hash.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/code_places.h>
#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/private_table.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <span>
#include <string_view>

namespace mishap::preload {
namespace {

struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::uintptr_t load_address = 0;
  const char* name = nullptr;
};

bool find_mapping(std::uintptr_t address, Mapping& out) noexcept {
  dl_find_object found{};
  if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0 ||
      found.dlfo_link_map == nullptr) {
    return false;
  }
  out.begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
  out.end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end);
  out.load_address = found.dlfo_link_map->l_addr;
  out.name = found.dlfo_link_map->l_name;
  return true;
}

/// A module of this process, kept when it was first seen. One that is unloaded
/// and another mapped over it are told apart by their load address only.
struct Known {
  Mapping mapping;
  std::uint32_t index = program::kNoModule;
  std::uint64_t hash = 0;
  bool is_loader = false;
  bool is_own = false;
};

constinit std::array<Known, program::kModules> known{};
constinit std::atomic<std::uint32_t> known_count{0};
constinit BusyFlag adding;

// The build-id's bytes in hexadecimal.
void read_build_id(const Mapping& mapping, program::Text<64>& out) noexcept {
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(mapping.begin);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
    return;
  }
  const auto* headers =
      reinterpret_cast<const ElfW(Phdr)*>(mapping.begin + header->e_phoff);
  for (const auto& part : std::span(headers, header->e_phnum)) {
    if (part.p_type != PT_NOTE) {
      continue;
    }
    const auto* at =
        reinterpret_cast<const char*>(mapping.load_address + part.p_vaddr);
    const char* const end = at + part.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) < end) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const char* const name = at + sizeof *note;
      const char* const data = name + ((note->n_namesz + 3) & ~3U);
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
          std::memcmp(name, "GNU", 4) == 0) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        std::size_t size = 0;
        for (std::uint32_t i = 0; i < note->n_descsz && size + 2 < 64; ++i) {
          const auto byte = static_cast<unsigned char>(data[i]);
          out.bytes[size++] = kDigits[byte >> 4];
          out.bytes[size++] = kDigits[byte & 15];
        }
        return;
      }
      at = data + ((note->n_descsz + 3) & ~3U);
    }
  }
}

std::string_view path_of(const Mapping& mapping,
                         std::array<char, 384>& room) noexcept {
  if (mapping.name != nullptr && *mapping.name != '\0') {
    return mapping.name;
  }
  const ssize_t size = readlink("/proc/self/exe", room.data(), room.size());
  return {room.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

// The entry of the module in the tables, which another image of this process
// may have made.
std::uint32_t keep_module(std::string_view path,
                          const program::Text<64>& build_id) noexcept {
  program::Control& control = *agent.control;
  const std::uint32_t count = control.module_count.load();
  for (std::uint32_t i = 0; i < count; ++i) {
    if (view_of(control.modules[i].path) == path.substr(0, 383)) {
      return i;
    }
  }
  if (count == program::kModules) {
    control.overflows.fetch_add(1);
    return program::kNoModule;
  }
  copy_text(path, control.modules[count].path);
  control.modules[count].build_id = build_id;
  control.module_count.store(count + 1);
  return count;
}

const Known* known_at(std::uintptr_t address) noexcept {
  const std::uint32_t count = known_count.load(std::memory_order_acquire);
  for (std::uint32_t i = count; i-- > 0;) {
    if (address >= known[i].mapping.begin && address < known[i].mapping.end) {
      return &known[i];
    }
  }
  return nullptr;
}

const Known* module_of(std::uintptr_t address) noexcept {
  Mapping mapping;
  if (!find_mapping(address, mapping)) {
    return nullptr;
  }
  const Known* found = known_at(address);
  if (found != nullptr && found->mapping.load_address == mapping.load_address &&
      found->mapping.name == mapping.name) {
    return found;
  }
  const BusyLock lock(adding);
  const std::uint32_t count = known_count.load();
  if (!lock || count == known.size()) {
    return nullptr;
  }
  std::array<char, 384> room;
  const std::string_view path = path_of(mapping, room);
  program::Text<64> build_id;
  read_build_id(mapping, build_id);
  Known& added = known[count];
  added.mapping = mapping;
  added.index = keep_module(path, build_id);
  added.hash =
      collector::fnv1a(build_id.bytes[0] == '\0' ? path : view_of(build_id));
  const std::string_view file = path.substr(path.rfind('/') + 1);
  added.is_loader = file.starts_with("ld-linux") || file.starts_with("ld.so");
  const auto own = reinterpret_cast<std::uintptr_t>(&known);
  added.is_own = own >= mapping.begin && own < mapping.end;
  known_count.store(count + 1, std::memory_order_release);
  return &added;
}

// Written by whoever asks; a reader takes an entry only if it is whole.
struct Cached {
  std::atomic<std::uintptr_t> address{0};
  std::atomic<std::uint64_t> packed{0};
};
constexpr std::size_t kCached = 1 << 14;
constinit std::array<Cached, kCached> cache{};

PlaceFound found_in(const Known& module, std::uintptr_t address) noexcept {
  const std::uint64_t offset = address - module.mapping.load_address;
  return {{module.index, 0, offset},
          (module.hash ^ offset) * 0x9fb21c651e98df25,
          module.is_loader,
          module.is_own};
}

}  // namespace

PlaceFound place_of(std::uintptr_t address) noexcept {
  Cached& entry = cache[(address ^ (address >> 14)) & (kCached - 1)];
  // Which module it was; the rest follows from it.
  if (entry.address.load(std::memory_order_acquire) == address) {
    const auto number = entry.packed.load(std::memory_order_relaxed);
    const Known& module = known[number & (program::kModules - 1)];
    if (number >> 16 == (address & 0xffffffff) &&
        address >= module.mapping.begin && address < module.mapping.end) {
      return found_in(module, address);
    }
  }
  const Known* const module = module_of(address);
  if (module == nullptr) {
    // Made at run time: the address differs from run to run.
    return {{program::kNoModule, 0, address}, 1, false, false};
  }
  entry.packed.store(((address & 0xffffffff) << 16) |
                         static_cast<std::uint64_t>(module - known.data()),
                     std::memory_order_relaxed);
  entry.address.store(address, std::memory_order_release);
  return found_in(*module, address);
}

bool is_in_library(std::uintptr_t address, const char* name) noexcept {
  const Known* const module = module_of(address);
  if (module == nullptr || module->mapping.name == nullptr) {
    return false;
  }
  const std::string_view path = module->mapping.name;
  return path.substr(path.rfind('/') + 1).starts_with(name);
}

}  // namespace mishap::preload
