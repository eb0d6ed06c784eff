#pragma once

#include <string>
#include <typeinfo>

namespace mishap {

/// The class of that type without namespaces and template arguments. Thread-
/// safe; demangles each type once.
std::string class_name_of_type(const std::type_info& type);

/// The dynamic class of `object`.
template <class T>
std::string class_name_of(const T& object) {
  return class_name_of_type(typeid(object));
}

}  // namespace mishap
