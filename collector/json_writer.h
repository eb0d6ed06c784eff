#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mishap::collector {

/// Writes JSON into a buffer of the caller, from left to right.
///
/// Never allocates, locks or looks at the locale: async-signal-safe, and usable
/// while memory is exhausted. What does not fit is left out and overflowed()
/// says so; the text is then no JSON. The caller keeps begin and end in
/// balance and gives a key before each value of an object.
class JsonWriter {
 public:
  explicit JsonWriter(std::span<char> buffer) noexcept : buffer_(buffer) {}

  void begin_object() noexcept { open('{'); }
  void end_object() noexcept { close('}'); }
  void begin_array() noexcept { open('['); }
  void end_array() noexcept { close(']'); }

  /// `name` is plain ASCII without quotes and backslashes.
  void key(std::string_view name) noexcept;

  void null() noexcept { literal("null"); }
  void boolean(bool value) noexcept { literal(value ? "true" : "false"); }
  /// A JSON number. Values beyond 53 bits are written as the nearest bound,
  /// since readers would round them.
  void integer(std::int64_t value) noexcept;
  /// The shortest text that reads back as the same value; null when it is not
  /// finite.
  void number(double value) noexcept;
  /// A text of decimal digits, for 64-bit values.
  void decimal(std::int64_t value) noexcept;
  void decimal(std::uint64_t value) noexcept;
  /// A text like "0x7f3a", for addresses.
  void hex(std::uint64_t value) noexcept;
  /// A text of two hex digits a byte.
  void hex_bytes(std::string_view bytes) noexcept;

  /// A text. Invalid UTF-8 is replaced by U+FFFD; returns whether any was.
  bool text(std::string_view value) noexcept;
  /// The same in parts, none of which begins or ends within a character.
  void begin_text() noexcept;
  bool add_text(std::string_view part) noexcept;
  void end_text() noexcept { put('"'); }

  /// Ends the line.
  void newline() noexcept { put('\n'); }

  bool overflowed() const noexcept { return overflowed_; }
  std::size_t size() const noexcept { return size_; }
  std::string_view view() const noexcept { return {buffer_.data(), size_}; }

 private:
  void put(char character) noexcept {
    if (overflowed_ || size_ == buffer_.size()) {
      overflowed_ = true;
      return;
    }
    buffer_[size_++] = character;
  }
  void put(std::string_view characters) noexcept;
  void put_escaped(unsigned char character) noexcept;
  void separate() noexcept {
    if (needs_comma_) put(',');
    needs_comma_ = true;
  }
  void literal(std::string_view word) noexcept;
  void open(char bracket) noexcept;
  void close(char bracket) noexcept;

  std::span<char> buffer_;
  std::size_t size_ = 0;
  bool needs_comma_ = false;
  bool overflowed_ = false;
};

/// "NaN", "Infinity" or "-Infinity"; a null view for a finite value.
std::string_view non_finite_word(double value) noexcept;

}  // namespace mishap::collector
