#pragma once

#include <exception>
#include <typeinfo>

namespace mishap::collector {

/// Looking at an exception without rethrowing it: no allocation, nothing that
/// could terminate while memory is exhausted.

/// An exception that lives as long as this does by other means: it is under
/// way, or being handled. Takes no part in its reference count.
class BorrowedException {
 public:
  explicit BorrowedException(const void* object) noexcept;
  ~BorrowedException() {}
  BorrowedException(const BorrowedException&) = delete;
  BorrowedException& operator=(const BorrowedException&) = delete;

  const std::exception_ptr& get() const noexcept { return pointer_; }

 private:
  // A union, so that nobody destroys it.
  union {
    std::exception_ptr pointer_;
  };
};

/// The thrown object, complete; null for a null pointer.
const void* exception_object(const std::exception_ptr& error) noexcept;

/// The type the object was thrown as, known even where no handler would match;
/// null for a null pointer.
const std::type_info* exception_type(const std::exception_ptr& error) noexcept;

/// The object as a handler `catch (const T&)` would see it, for a class type T;
/// null where that handler would not match (private and ambiguous bases).
const void* exception_as(const std::exception_ptr& error,
                         const std::type_info& handler) noexcept;

template <typename T>
const T* exception_as(const std::exception_ptr& error) noexcept {
  return static_cast<const T*>(exception_as(error, typeid(T)));
}

}  // namespace mishap::collector
