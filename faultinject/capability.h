#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mishap::faultinject {

/// What can be done at a point. Flags.
enum class Capability : std::uint8_t {
  kNone = 0,
  /// Whatever needs no help from the point: throw, sleep, signal, exit, …
  kControl = 1,
  /// The point can leave its function early with a value.
  kReturn = 2,
  /// The point stands before a call that says why it failed: errno, short,
  /// torn.
  kIo = 4,
  /// The point holds data that can be damaged: nan, inf, zero, bitflip.
  kValue = 8,
  /// A run may legitimately succeed although a fault struck here.
  kRecover = 16,
};

constexpr Capability operator|(Capability a, Capability b) {
  return static_cast<Capability>(static_cast<unsigned>(a) |
                                 static_cast<unsigned>(b));
}
constexpr Capability operator&(Capability a, Capability b) {
  return static_cast<Capability>(static_cast<unsigned>(a) &
                                 static_cast<unsigned>(b));
}
/// Whether `have` holds at least one of the `wanted` flags.
constexpr bool allows(Capability have, Capability wanted) {
  return (have & wanted) != Capability::kNone;
}

/// A family of points: the first level of their names.
struct Family {
  std::string_view name;
  /// The most that a point of the family can do.
  Capability capabilities;
  /// How the names are made, for messages and help.
  std::string_view shape;
};

std::span<const Family> families();

/// Null when there is no such family.
const Family* find_family(std::string_view name);

}  // namespace mishap::faultinject
