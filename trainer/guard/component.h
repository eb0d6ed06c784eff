#pragma once

#include <cstdint>
#include <string_view>

namespace mishap {

/// Whose code a hook runs: `module`, `data`, `callback.<Class>`,
/// `logger.<Class>`, `strategy`, `loader` or, in an own loop, a name given by
/// the user.
///
/// A value of two bytes: names are interned for the life of the process, so
/// that a signal handler and a record of a dead run can still name them.
class Component {
 public:
  /// No component.
  constexpr Component() noexcept = default;

  /// The component of that name. Thread-safe; allocates when the name is new.
  /// At most 4,095 different names are kept, later ones share "<other>".
  static Component named(std::string_view name);

  /// The component with that index(), for a value read from a snapshot.
  static constexpr Component from_index(std::uint16_t index) noexcept {
    Component component;
    component.index_ = index;
    return component;
  }

  /// Never dangling, zero-terminated; "" for no component. Signal-safe.
  std::string_view name() const noexcept;
  constexpr std::uint16_t index() const noexcept { return index_; }

  friend constexpr bool operator==(Component, Component) noexcept = default;

 private:
  std::uint16_t index_ = 0;
};

/// The class name inside a demangled type name: without namespaces and
/// template arguments ("app::Early<float>" gives "Early").
std::string_view class_name(std::string_view type_name) noexcept;

}  // namespace mishap
