#pragma once

#include <cstdint>
#include <string_view>

namespace mishap::faultinject {

/// FNV-1a: the same in every process and on every machine.
constexpr std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

/// The hash of a sequence from the hash so far and its next element's.
constexpr std::uint64_t chain_hash(std::uint64_t hash, std::uint64_t next) {
  return (hash ^ next) * 0x100000001b3 + 0x9e3779b97f4a7c15;
}

/// A well-mixed 64-bit value for each input: the n-th output of a generator
/// with seed s is mix(s + n * kMixStep) (SplitMix64).
inline constexpr std::uint64_t kMixStep = 0x9e3779b97f4a7c15;
constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace mishap::faultinject
