#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mishap::faultinject {

/// The number of an interned point name. Numbers are dense, start at 0 and stay
/// the same until the process ends; they differ between processes, names do
/// not.
struct PointId {
  std::uint32_t value = 0;
  friend auto operator<=>(const PointId&, const PointId&) = default;
};

/// Ends the name of the point that is hit when a body has returned.
inline constexpr std::string_view kAfter = ":after";

/// Gives `name` its number; the same name always gets the same one. Interning
/// does not put a name into the catalogue: catalogue.h does.
///
/// Takes a lock and may allocate: intern once, outside loops. Thread-safe.
/// @throws std::invalid_argument when `name` is not a point's name.
PointId intern(std::string_view name);

/// The number of `name` if it was interned before. Thread-safe.
std::optional<PointId> find_point(std::string_view name);

/// The name behind a number; valid until the process ends. Lock-free.
std::string_view name_of(PointId point) noexcept;

/// A hash of the name that is the same in every process. Lock-free.
std::uint64_t name_hash(PointId point) noexcept;

/// How many names are interned: every number is below it.
std::size_t point_count() noexcept;

/// What is wrong with a name, and where.
struct NameProblem {
  std::size_t offset = 0;
  std::string what;
  std::string advice;
};

enum class NameKind { kPoint, kPattern };

/// Checks a name against the grammar: levels of letters, digits and `_ . : # -`
/// separated by '/', with `:after` only at the end; a pattern may also hold
/// `*` (within a level) and `**` (levels).
std::optional<NameProblem> check_name(std::string_view name, NameKind kind);

}  // namespace mishap::faultinject
