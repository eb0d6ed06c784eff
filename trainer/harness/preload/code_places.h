#pragma once

#include <mishap/trainer/harness/program/control.h>

#include <cstdint>

namespace mishap::preload {

/// What is known of a code address.
struct PlaceFound {
  program::CodePlace place;
  /// The same in every process that has the same file mapped there.
  std::uint64_t hash = 0;
  /// In the loader: what it runs is the start of a library.
  bool is_loader = false;
  /// In this library.
  bool is_own = false;
};

/// The place of a return address. From a cache where it was asked for before;
/// lock-free, but a module seen first takes a moment. Signal-safe with glibc
/// 2.35 and later.
PlaceFound place_of(std::uintptr_t address) noexcept;

/// Whether the address lies in a library of that file name, or one that begins
/// with it (`libc10.so`).
bool is_in_library(std::uintptr_t address, const char* name) noexcept;

}  // namespace mishap::preload
