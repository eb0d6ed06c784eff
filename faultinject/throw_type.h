#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::faultinject {

/// Throws; never returns. Must hold a `throw` expression of its own: rethrown
/// exception_ptrs do not pass the throw hook and would have no throw site.
using ThrowFunction = std::function<void(std::string_view text)>;

/// What the second argument of `throw(type, text)` may be.
enum class ThrowText { kAny, kInteger, kNone };

struct ThrowType {
  std::string name;
  ThrowFunction thrower;
  ThrowText text = ThrowText::kAny;
};

/// Makes `throw(name[, text])` possible in plans. Without a text in the plan
/// `thrower` gets one that names the type and the point. Thread-safe.
/// @throws std::invalid_argument when the name is taken or is not made of up
/// to 32 lower-case letters, digits and '_'.
void register_throw_type(std::string name, ThrowFunction thrower,
                         ThrowText text = ThrowText::kAny);

/// Null when there is no such type; else valid until the process ends.
const ThrowType* find_throw_type(std::string_view name);

/// The names of all registered types, sorted.
std::vector<std::string> throw_type_names();

/// Whether a type of this name exists in faultinject/torch, linked or not.
bool is_torch_throw_type(std::string_view name);

}  // namespace mishap::faultinject
