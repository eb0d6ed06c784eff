#pragma once

#include <exception>
#include <typeinfo>

namespace mishap::preload {

/// Makes `object` what a handler for std::exception would see of the thrown
/// object; false when it has none.
inline bool is_standard_exception(void*& object,
                                  const std::type_info& type) noexcept {
  return typeid(std::exception).__do_catch(&type, &object, 1);
}

/// What the thrown object says of itself; null when it can't.
inline const char* text_of_thrown(void* object,
                                  const std::type_info& type) noexcept {
  return is_standard_exception(object, type)
             ? static_cast<std::exception*>(object)->what()
             : nullptr;
}

}  // namespace mishap::preload
