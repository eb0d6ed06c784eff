#pragma once

#include <mishap/collector/json_writer.h>
#include <mishap/collector/redact_text.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mishap::collector {

/// Of a text that is no UTF-8 so many raw bytes are kept.
inline constexpr std::size_t kMaxRawBytes = 512;

/// Which items of a list beyond its limit stay.
enum class Keep : std::uint8_t { kFirst, kLast };

/// The members of one line of a file, with the rules that all files share: an
/// empty view or optional is null, what is too long is shortened and listed in
/// `truncated`, the raw bytes of a text that is no UTF-8 are kept in
/// `replaced_bytes`. Async-signal-safe.
class Line {
 public:
  /// `text_bytes` and `name_bytes` are the limits of text() and name().
  Line(std::span<char> buffer, std::size_t text_bytes,
       std::size_t name_bytes) noexcept
      : json_(buffer), text_bytes_(text_bytes), name_bytes_(name_bytes) {}

  void boolean(std::string_view key, std::optional<bool> value) noexcept;
  template <typename Integer>
  void integer(std::string_view key, std::optional<Integer> value) noexcept {
    json_.key(key);
    value ? json_.integer(*value) : json_.null();
  }
  void integer(std::string_view key, std::int64_t value) noexcept;
  /// A number, and in `<key>_word` the word of a non-finite one.
  void number(std::string_view key, std::string_view word_key,
              std::optional<double> value) noexcept;
  void decimal(std::string_view key, std::int64_t value) noexcept;
  void decimal(std::string_view key,
               std::optional<std::uint64_t> value) noexcept;
  void hex(std::string_view key, std::optional<std::uint64_t> value) noexcept;

  /// An empty name is null. Names are words of the program: but for the home
  /// folder, where that is hidden, they are written as they are. In all texts
  /// below secrets are replaced (redact_text.h).
  void name(std::string_view key, std::string_view value) noexcept;
  /// A null view is null, an empty one an empty text.
  void text(std::string_view key, std::string_view value) noexcept;
  void text(std::string_view key, std::string_view value,
            std::size_t limit) noexcept;
  /// Whole or null.
  void command(std::string_view key, std::string_view value,
               std::size_t limit) noexcept;
  /// A text whose raw bytes get a key of their own: null unless they are no
  /// UTF-8. `total` is the length of the whole of which `value` may be the
  /// beginning. Returns whether anything is missing.
  bool raw_text(std::string_view key, std::string_view bytes_key,
                std::string_view value, std::size_t limit,
                std::size_t total) noexcept;

  /// An object whose members `body()` writes.
  template <typename Body>
  void object(std::string_view key, Body body) noexcept {
    json_.key(key);
    enter(key);
    json_.begin_object();
    body();
    json_.end_object();
    leave();
  }

  /// A list of objects; `body(item)` writes the members of one. There were
  /// `total` of them if that is more than came here.
  template <typename Item, typename Body>
  void objects(std::string_view key, std::span<const Item> items,
               std::size_t limit, Keep keep, Body body,
               std::size_t total = 0) noexcept {
    begin_list(key, std::max(items.size(), total),
               std::min(items.size(), limit));
    for (const Item& item : part(items, limit, keep)) write_item(item, body);
    end_list();
  }

  /// A list of those `kept` objects that `choose(item)` picks.
  template <typename Item, typename Choose, typename Body>
  void chosen(std::string_view key, std::span<const Item> items,
              std::size_t kept, Choose choose, Body body) noexcept {
    begin_list(key, items.size(), kept);
    for (const Item& item : items) {
      if (choose(item)) write_item(item, body);
    }
    end_list();
  }

  void texts(std::string_view key, std::span<const std::string_view> items,
             std::size_t limit, Keep keep) noexcept;
  void integers(std::string_view key, std::span<const std::int64_t> items,
                std::size_t limit) noexcept;

  /// Says that a list lost items before it came here.
  void lost(std::string_view key, std::size_t kept, std::size_t total) noexcept;

  /// The line's braces; end() adds `truncated` and `replaced_bytes` first.
  void begin() noexcept { json_.begin_object(); }
  void end() noexcept;

  bool overflowed() const noexcept { return json_.overflowed(); }
  std::size_t size() const noexcept { return json_.size(); }

 private:
  static constexpr std::size_t kMaxDepth = 8;
  static constexpr std::size_t kMaxLosses = 16;
  static constexpr std::size_t kMaxReplaced = 8;

  struct Step {
    std::string_view key;
    std::int64_t index = -1;
  };
  struct Path {
    std::array<char, 120> text{};
    std::size_t size = 0;
    std::string_view view() const noexcept { return {text.data(), size}; }
    void add(std::string_view part) noexcept;
  };
  struct Loss {
    Path path;
    std::size_t kept = 0;
    std::size_t total = 0;
  };
  struct Replaced {
    Path path;
    std::string_view bytes;
  };

  template <typename Item>
  static std::span<const Item> part(std::span<const Item> items,
                                    std::size_t limit, Keep keep) noexcept {
    const std::size_t size = std::min(items.size(), limit);
    return keep == Keep::kFirst ? items.first(size) : items.last(size);
  }

  void begin_list(std::string_view key, std::size_t total,
                  std::size_t limit) noexcept;
  template <typename Item, typename Body>
  void write_item(const Item& item, Body& body) noexcept {
    next_item();
    json_.begin_object();
    body(item);
    json_.end_object();
  }
  void next_item() noexcept { ++steps_[depth_ - 1].index; }
  void end_list() noexcept;
  void enter(std::string_view key) noexcept;
  void leave() noexcept { --depth_; }
  Path path_to(std::string_view key) const noexcept;
  void text_of_kind(std::string_view key, std::string_view value,
                    std::size_t limit, TextKind kind) noexcept;
  void write_text(std::string_view key, std::string_view value,
                  TextKind kind) noexcept;
  /// Nothing when secrets were replaced, else whether bytes were.
  std::optional<bool> put_text(std::string_view value, TextKind kind) noexcept;

  JsonWriter json_;
  std::size_t text_bytes_;
  std::size_t name_bytes_;
  std::array<Step, kMaxDepth> steps_{};
  std::size_t depth_ = 0;
  std::array<Loss, kMaxLosses> losses_;
  std::size_t losses_size_ = 0;
  std::size_t losses_unlisted_ = 0;
  std::array<Replaced, kMaxReplaced> replaced_;
  std::size_t replaced_size_ = 0;
};

}  // namespace mishap::collector
