#include <mishap/collector/exception_object.h>

#include <cstring>

namespace mishap::collector {

BorrowedException::BorrowedException(const void* object) noexcept {
  static_assert(sizeof(pointer_) == sizeof(object),
                "libstdc++'s exception_ptr is a pointer to the thrown object");
  std::memcpy(static_cast<void*>(&pointer_), &object, sizeof(object));
}

const void* exception_object(const std::exception_ptr& error) noexcept {
  static_assert(sizeof(error) == sizeof(void*),
                "libstdc++'s exception_ptr is a pointer to the thrown object");
  const void* object = nullptr;
  std::memcpy(&object, static_cast<const void*>(&error), sizeof(object));
  return object;
}

const std::type_info* exception_type(const std::exception_ptr& error) noexcept {
  return error ? error.__cxa_exception_type() : nullptr;
}

const void* exception_as(const std::exception_ptr& error,
                         const std::type_info& handler) noexcept {
  const std::type_info* thrown = exception_type(error);
  if (thrown == nullptr) {
    return nullptr;
  }
  // What the personality routine asks when it looks for a handler.
  void* object = const_cast<void*>(exception_object(error));
  return handler.__do_catch(thrown, &object, 1) ? object : nullptr;
}

}  // namespace mishap::collector
