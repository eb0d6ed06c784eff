#include <mishap/faultinject/std_throw_types.h>

#include <charconv>
#include <exception>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>

namespace mishap::faultinject {
namespace {

class NullWhat : public std::exception {
 public:
  const char* what() const noexcept override { return nullptr; }
};

/// The catcher of a `const char*` expects it to live for ever.
const char* immortal(std::string_view text) {
  static std::mutex* const mutex = new std::mutex;
  static auto* const texts = new std::set<std::string, std::less<>>;
  const std::lock_guard lock(*mutex);
  return texts->emplace(text).first->c_str();
}

int number_in(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void throw_nested(std::string_view text) {
  try {
    throw std::logic_error("the cause of " + std::string(text));
  } catch (const std::logic_error&) {
    std::throw_with_nested(std::runtime_error(std::string(text)));
  }
}

}  // namespace

std::vector<ThrowType> std_throw_types() {
  using Text = std::string_view;
  return {
      {"runtime",
       [](Text text) { throw std::runtime_error(std::string(text)); },
       ThrowText::kAny},
      {"logic", [](Text text) { throw std::logic_error(std::string(text)); },
       ThrowText::kAny},
      {"out_of_range",
       [](Text text) { throw std::out_of_range(std::string(text)); },
       ThrowText::kAny},
      {"system",
       [](Text text) {
         throw std::system_error(std::make_error_code(std::errc::io_error),
                                 std::string(text));
       },
       ThrowText::kAny},
      {"bad_alloc", [](Text) { throw std::bad_alloc(); }, ThrowText::kNone},
      {"int", [](Text text) { throw number_in(text); }, ThrowText::kInteger},
      {"cstring", [](Text text) { throw immortal(text); }, ThrowText::kAny},
      {"string", [](Text text) { throw std::string(text); }, ThrowText::kAny},
      {"nested", throw_nested, ThrowText::kAny},
      {"null_what", [](Text) { throw NullWhat(); }, ThrowText::kNone},
      {"bad_utf8",
       [](Text text) {
         throw std::runtime_error(std::string(text) + " \xff\xfe\x80");
       },
       ThrowText::kAny},
  };
}

}  // namespace mishap::faultinject
