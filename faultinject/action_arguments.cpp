#include <mishap/faultinject/action_arguments.h>
#include <mishap/faultinject/suggestion.h>
#include <mishap/faultinject/symbol_names.h>
#include <mishap/faultinject/throw_type.h>

#include <array>
#include <charconv>
#include <csignal>
#include <limits>
#include <optional>
#include <system_error>

namespace mishap::faultinject {
namespace {

constexpr std::int64_t kMaxNumber = std::numeric_limits<std::int64_t>::max();
// The longest wait: a day.
constexpr std::int64_t kMaxMilliseconds = 24LL * 60 * 60 * 1000;

ArgumentsRead bad(std::size_t argument, std::string problem,
                  std::string advice) {
  ArgumentsRead read;
  read.argument = argument;
  read.problem = std::move(problem);
  read.advice = std::move(advice);
  return read;
}

ArgumentsRead good(std::int64_t number) {
  ArgumentsRead read;
  read.number = number;
  return read;
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

/// Something is wrong with how many there are.
std::optional<ArgumentsRead> wrong_count(Arguments arguments, std::size_t least,
                                         std::size_t most,
                                         const std::string& expected) {
  if (arguments.size() < least) {
    return bad(arguments.size(), "an argument is missing",
               "write " + expected + " in parentheses");
  }
  if (arguments.size() > most) {
    return bad(most, "the argument " + quoted(arguments[most]) + " is too many",
               most == 0 ? "leave it out" : "write only " + expected);
  }
  return std::nullopt;
}

ArgumentsRead read_whole_number(Arguments arguments, std::int64_t max,
                                const std::string& expected) {
  if (auto wrong = wrong_count(arguments, 1, 1, expected)) return *wrong;
  std::int64_t number = 0;
  if (!read_number(arguments[0], max, number)) {
    const std::string limit =
        max == kMaxNumber ? "" : " up to " + std::to_string(max);
    return bad(0, quoted(arguments[0]) + " is no whole number" + limit,
               "write " + expected);
  }
  return good(number);
}

std::optional<ArgumentsRead> too_long(Arguments arguments,
                                      std::size_t argument) {
  if (arguments[argument].size() <= kMaxText) return std::nullopt;
  return bad(argument,
             "the text is longer than " + std::to_string(kMaxText) + " bytes",
             "shorten it, or register a throw type that makes its own text");
}

ArgumentsRead read_symbol(Arguments arguments,
                          std::optional<int> (*find)(std::string_view),
                          std::span<const std::string_view> names,
                          const std::string& expected) {
  if (auto wrong = wrong_count(arguments, 1, 1, expected)) return *wrong;
  if (const auto number = find(arguments[0])) return good(*number);
  return bad(0, "unknown name " + quoted(arguments[0]),
             did_you_mean(arguments[0], names, "write " + expected));
}

ArgumentsRead unknown_throw_type(std::string_view name) {
  if (is_torch_throw_type(name)) {
    return bad(
        0,
        "the throw type " + quoted(name) +
            " belongs to the LibTorch part, which this program does not link",
        "link the trainer component, or use a type such as 'runtime'");
  }
  const std::vector<std::string> owned = throw_type_names();
  const std::vector<std::string_view> names(owned.begin(), owned.end());
  return bad(0, "unknown throw type " + quoted(name),
             did_you_mean(name, names, "the types here are " + join(names)));
}

}  // namespace

bool read_number(std::string_view text, std::int64_t max,
                 std::int64_t& number) {
  if (text.empty() || text.front() == '-') return false;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end && number <= max;
}

ArgumentsRead read_none(Arguments arguments) {
  return wrong_count(arguments, 0, 0, "").value_or(good(0));
}

ArgumentsRead read_optional_text(Arguments arguments) {
  if (auto wrong = wrong_count(arguments, 0, 1, "one text")) return *wrong;
  if (arguments.empty()) return good(0);
  return too_long(arguments, 0).value_or(good(0));
}

ArgumentsRead read_milliseconds(Arguments arguments) {
  return read_whole_number(arguments, kMaxMilliseconds, "milliseconds");
}

ArgumentsRead read_bytes(Arguments arguments) {
  return read_whole_number(arguments, kMaxNumber, "a number of bytes");
}

ArgumentsRead read_bit(Arguments arguments) {
  return read_whole_number(arguments, 63, "the number of a bit");
}

ArgumentsRead read_exit_code(Arguments arguments) {
  return read_whole_number(arguments, 255, "an exit code");
}

ArgumentsRead read_errno(Arguments arguments) {
  return read_symbol(arguments, errno_number, errno_names(),
                     "the name of an error such as ENOSPC");
}

ArgumentsRead read_signal(Arguments arguments) {
  return read_symbol(arguments, signal_number, signal_names(),
                     "the name of a signal such as SIGTERM");
}

ArgumentsRead read_interrupt(Arguments arguments) {
  static constexpr std::array<std::string_view, 2> kNames = {"SIGINT",
                                                             "SIGTERM"};
  const auto number = [](std::string_view name) -> std::optional<int> {
    if (name == kNames[0]) return SIGINT;
    if (name == kNames[1]) return SIGTERM;
    return std::nullopt;
  };
  return read_symbol(arguments, number, kNames, "SIGINT or SIGTERM");
}

ArgumentsRead read_throw(Arguments arguments) {
  if (auto wrong = wrong_count(arguments, 1, 2, "a type and a text")) {
    return *wrong;
  }
  ArgumentsRead read;
  read.throw_type = find_throw_type(arguments[0]);
  if (read.throw_type == nullptr) return unknown_throw_type(arguments[0]);
  if (arguments.size() == 1) return read;
  if (read.throw_type->text == ThrowText::kNone) {
    return bad(1, "the throw type " + quoted(arguments[0]) + " takes no text",
               "leave it out");
  }
  if (read.throw_type->text == ThrowText::kInteger) {
    int number = 0;
    const std::string& text = arguments[1];
    const auto [stop, error] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || stop != text.data() + text.size()) {
      return bad(1, quoted(text) + " is no whole number that an int holds",
                 "write a number, or leave it out");
    }
  }
  return too_long(arguments, 1).value_or(read);
}

}  // namespace mishap::faultinject
