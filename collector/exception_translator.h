#pragma once

#include <mishap/collector/exception_object.h>

#include <exception>
#include <optional>
#include <string_view>
#include <typeinfo>

namespace mishap::collector {

/// What a translator says of an exception. The texts need to live only as long
/// as the exception does.
struct Translation {
  /// Null: the exception has a message, but gave none.
  const char* message = nullptr;
  std::string_view native_backtrace;
  std::optional<int> code;
  /// The exception that this one wraps.
  std::exception_ptr cause;
};

/// Teaches exception chains to read a foreign type and what derives from it:
///
///     register_translator<db::Error>(
///         [](const db::Error& error, Translation& out) {
///           out.message = error.text();
///         });
///
/// The dynamic type stays the one reported. Translators are tried in the order
/// of registration, before the built-in ones; one that throws is passed over.
/// Registering the same function again changes nothing. Thread-safe. False: the
/// table of 32 is full.
template <typename T>
bool register_translator(void (*translate)(const T&, Translation&));

namespace detail {

struct Translator {
  const std::type_info* type;
  void (*function)();
  void (*invoke)(void (*function)(), const void* object, Translation& out);
};

bool add_translator(const Translator& translator) noexcept;

/// The first translator that knows `error`; false when there is none.
bool translate(const std::exception_ptr& error, Translation& out) noexcept;

}  // namespace detail

template <typename T>
bool register_translator(void (*translate)(const T&, Translation&)) {
  return detail::add_translator(
      {&typeid(T), reinterpret_cast<void (*)()>(translate),
       [](void (*function)(), const void* object, Translation& out) {
         reinterpret_cast<void (*)(const T&, Translation&)>(function)(
             *static_cast<const T*>(object), out);
       }});
}

}  // namespace mishap::collector
