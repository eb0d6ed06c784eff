#pragma once

#include <cstdint>
#include <string_view>

namespace mishap::collector {

/// FNV-1a with 64 bits. For telling texts apart, not against an enemy.
/// Async-signal-safe.
constexpr std::uint64_t fnv1a(std::string_view bytes) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

}  // namespace mishap::collector
