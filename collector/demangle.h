#pragma once

#include <string>
#include <string_view>
#include <typeinfo>

namespace mishap::collector {

/// The readable form of a mangled symbol or `type_info::name()`; the text as it
/// is when it is not mangled. Throws std::bad_alloc only.
std::string demangle(const char* mangled);

/// The readable name of a type, for example "std::runtime_error".
std::string type_name(const std::type_info& type);

/// A readable type name without its namespaces, enclosing functions and
/// template arguments: "app::Net<int>" gives "Net". A view into `name`.
std::string_view short_type_name(std::string_view name) noexcept;

}  // namespace mishap::collector
