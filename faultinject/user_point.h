#pragma once

#include <mishap/faultinject/catalogue.h>
#include <mishap/faultinject/hit.h>

#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace mishap::faultinject {

/// A string literal as a template argument.
template <std::size_t Size>
struct FixedName {
  char text[Size] = {};

  consteval FixedName(const char (&literal)[Size]) {
    for (std::size_t i = 0; i < Size; ++i) text[i] = literal[i];
  }
  constexpr std::string_view view() const { return {text, Size - 1}; }

  /// Levels of letters, digits and `_ . -`, none of them empty.
  constexpr bool is_valid() const {
    bool level_is_empty = true;
    for (const char c : view()) {
      if (c == '/') {
        if (level_is_empty) return false;
        level_is_empty = true;
        continue;
      }
      const bool is_good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '_' || c == '.' ||
                           c == '-';
      if (!is_good) return false;
      level_is_empty = false;
    }
    return !level_is_empty;
  }
};

/// How `return(text)` becomes a value. Specialise it for your own types:
/// check() says why a text is no value (empty: it is one), read() makes the
/// value.
template <typename T>
struct ReturnText {
  static_assert(std::is_arithmetic_v<T>,
                "specialise mishap::faultinject::ReturnText for this type");
  static std::string check(std::string_view text) {
    T value{};
    return parse(text, value) ? std::string()
                              : "'" + std::string(text) +
                                    "' is no number of the type it returns";
  }
  static T read(std::string_view text) {
    T value{};
    if (!parse(text, value)) throw std::invalid_argument(check(text));
    return value;
  }

 private:
  static bool parse(std::string_view text, T& value) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end;
  }
};

template <>
struct ReturnText<void> {
  static std::string check(std::string_view text) {
    return text.empty() ? "" : "it returns nothing";
  }
  static void read(std::string_view) {}
};

template <>
struct ReturnText<bool> {
  static std::string check(std::string_view text) {
    return text == "true" || text == "false" ? "" : "it returns true or false";
  }
  static bool read(std::string_view text) { return text == "true"; }
};

template <>
struct ReturnText<std::string> {
  static std::string check(std::string_view) { return ""; }
  static std::string read(std::string_view text) { return std::string(text); }
};

/// Registers one point of user code. The inline static is initialised when the
/// program is loaded, so the point is known before it is reached.
template <FixedName Name>
struct UserPoint {
  static_assert(Name.is_valid(),
                "a fault point's name is made of letters, digits, _ . - and "
                "levels separated by '/'");
  static inline const PointId kId =
      declare_point("user/" + std::string(Name.view()), Capability::kControl);
};

template <FixedName Name>
struct RecoverablePoint {
  static_assert(Name.is_valid(),
                "a fault point's name is made of letters, digits, _ . - and "
                "levels separated by '/'");
  static inline const PointId kId =
      declare_point("user/" + std::string(Name.view()),
                    Capability::kControl | Capability::kRecover);
};

template <FixedName Name, typename T>
struct ReturningPoint {
  static_assert(Name.is_valid(),
                "a fault point's name is made of letters, digits, _ . - and "
                "levels separated by '/'");
  static inline const PointId kId = declare_point(
      "user/" + std::string(Name.view()),
      Capability::kControl | Capability::kReturn, &ReturnText<T>::check);
};

template <FixedName Name>
void user_hit() {
  hit(UserPoint<Name>::kId);
}

template <FixedName Name>
void recoverable_hit() {
  hit(RecoverablePoint<Name>::kId);
}

template <FixedName Name, typename T>
Directive returning_hit() {
  return hit(ReturningPoint<Name, T>::kId);
}

}  // namespace mishap::faultinject
