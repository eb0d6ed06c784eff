#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mishap::collector {

/// One executable or shared library of this process.
struct Module {
  static constexpr std::size_t kMaxBuildIdBytes = 32;

  /// As the loader knows it; the executable's own path is made absolute.
  std::string path;
  /// What the addresses of the file are moved by: an address minus
  /// `load_address` is the address that the file's symbols use.
  std::uintptr_t load_address = 0;
  /// The lowest mapped address and one past the highest.
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::array<std::uint8_t, kMaxBuildIdBytes> build_id{};
  std::uint8_t build_id_size = 0;
  bool is_executable = false;
  /// System library or part of LibTorch: its frames are not the program's own.
  bool is_foreign = false;

  std::size_t size() const { return end - begin; }
  /// The GNU build-id in hex; empty when the linker wrote none.
  std::string build_id_hex() const;
};

/// No module holds the address.
inline constexpr int kNoModule = -1;

/// Whether a library or program of that path belongs to the system: its frames
/// are not the user's own.
bool is_system_module(std::string_view path) noexcept;

/// Reads the list of loaded modules anew; call it when a run starts. Modules
/// keep their index for the life of the process, those unloaded meanwhile
/// included. Thread-safe, not signal-safe. Never throws: when memory runs out
/// the rest of the list is left for the next call.
void refresh_modules() noexcept;

/// How many modules are known; the indices are below it.
std::size_t module_count() noexcept;

/// How many times a module was found to be gone; what was looked up in modules
/// before it changed may hold no more. Lock-free.
std::size_t module_unloads() noexcept;

/// The module with that index, alive until the process ends. Lock-free.
const Module& module_at(std::size_t index) noexcept;

/// Index of the module whose mapping holds `address`, or kNoModule. An unknown
/// address refreshes the list once. Thread-safe.
int find_module(std::uintptr_t address) noexcept;

/// The same without refreshing. Signal-safe.
int find_known_module(std::uintptr_t address) noexcept;

}  // namespace mishap::collector
