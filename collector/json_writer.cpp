#include <mishap/collector/json_writer.h>
#include <mishap/collector/utf8.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace mishap::collector {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kReplacement = "\xef\xbf\xbd";
constexpr std::int64_t kMaxExact = (std::int64_t{1} << 53) - 1;

constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t byte = 0x20; byte < 0x80; ++byte) {
    plain[byte] = byte != '"' && byte != '\\';
  }
  return plain;
}();

bool is_plain(char character) noexcept {
  return kPlain[static_cast<unsigned char>(character)];
}

template <typename Number, typename... Base>
std::string_view format(std::array<char, 40>& space, Number value,
                        Base... base) noexcept {
  const auto end =
      std::to_chars(space.data(), space.data() + space.size(), value, base...)
          .ptr;
  return {space.data(), static_cast<std::size_t>(end - space.data())};
}

}  // namespace

void JsonWriter::put(std::string_view characters) noexcept {
  if (overflowed_ || characters.size() > buffer_.size() - size_) {
    overflowed_ = true;
    return;
  }
  std::copy_n(characters.data(), characters.size(), buffer_.data() + size_);
  size_ += characters.size();
}

void JsonWriter::literal(std::string_view word) noexcept {
  separate();
  put(word);
}

void JsonWriter::open(char bracket) noexcept {
  separate();
  put(bracket);
  needs_comma_ = false;
}

void JsonWriter::close(char bracket) noexcept {
  put(bracket);
  needs_comma_ = true;
}

void JsonWriter::key(std::string_view name) noexcept {
  const std::size_t size = name.size() + 3 + (needs_comma_ ? 1 : 0);
  if (overflowed_ || size > buffer_.size() - size_) {
    overflowed_ = true;
    return;
  }
  char* out = buffer_.data() + size_;
  if (needs_comma_) *out++ = ',';
  *out++ = '"';
  out = std::copy_n(name.data(), name.size(), out);
  *out++ = '"';
  *out = ':';
  size_ += size;
  needs_comma_ = false;
}

void JsonWriter::integer(std::int64_t value) noexcept {
  std::array<char, 40> space;
  literal(format(space, std::clamp(value, -kMaxExact, kMaxExact)));
}

void JsonWriter::number(double value) noexcept {
  if (!std::isfinite(value)) return null();
  std::array<char, 40> space;
  const std::string_view digits = format(space, value);
  literal(digits);
  // Readers that infer types must see the same one in every line.
  if (digits.find_first_of(".e") == std::string_view::npos) put(".0");
}

void JsonWriter::decimal(std::int64_t value) noexcept {
  std::array<char, 40> space;
  separate();
  put('"');
  put(format(space, value));
  put('"');
}

void JsonWriter::decimal(std::uint64_t value) noexcept {
  std::array<char, 40> space;
  separate();
  put('"');
  put(format(space, value));
  put('"');
}

void JsonWriter::hex(std::uint64_t value) noexcept {
  std::array<char, 40> space;
  separate();
  put("\"0x");
  put(format(space, value, 16));
  put('"');
}

void JsonWriter::hex_bytes(std::string_view bytes) noexcept {
  separate();
  put('"');
  for (const char character : bytes) {
    const auto byte = static_cast<unsigned char>(character);
    put(kHexDigits[byte >> 4]);
    put(kHexDigits[byte & 15]);
  }
  put('"');
}

void JsonWriter::begin_text() noexcept {
  separate();
  put('"');
}

bool JsonWriter::text(std::string_view value) noexcept {
  begin_text();
  const bool replaced = add_text(value);
  end_text();
  return replaced;
}

bool JsonWriter::add_text(std::string_view value) noexcept {
  bool replaced = false;
  while (!value.empty() && !overflowed_) {
    const auto* const begin = value.data();
    const auto* const end =
        std::find_if_not(begin, begin + value.size(), is_plain);
    put(std::string_view(begin, static_cast<std::size_t>(end - begin)));
    value.remove_prefix(static_cast<std::size_t>(end - begin));
    if (value.empty()) break;
    const Utf8Step step = utf8_step(value);
    if (!step.valid) {
      put(kReplacement);
      replaced = true;
    } else if (step.size == 1) {
      put_escaped(static_cast<unsigned char>(value.front()));
    } else {
      put(value.substr(0, step.size));
    }
    value.remove_prefix(step.size);
  }
  return replaced;
}

void JsonWriter::put_escaped(unsigned char character) noexcept {
  switch (character) {
    case '"':
      return put("\\\"");
    case '\\':
      return put("\\\\");
    case '\n':
      return put("\\n");
    case '\r':
      return put("\\r");
    case '\t':
      return put("\\t");
    default:
      put("\\u00");
      put(kHexDigits[character >> 4]);
      put(kHexDigits[character & 15]);
  }
}

std::string_view non_finite_word(double value) noexcept {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return {};
}

}  // namespace mishap::collector
