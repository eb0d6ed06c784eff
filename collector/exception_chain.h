#pragma once

#include <mishap/collector/throw_site.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <typeinfo>

namespace mishap::collector {

/// One exception of a chain. The texts live as long as the chain is not
/// described anew; they are raw bytes, not necessarily UTF-8.
struct ChainEntry {
  /// Readable dynamic type; the wrapper that std::throw_with_nested makes is
  /// shown as the type that was given to it.
  std::string_view type;
  /// The first kMaxMessageBytes; a UTF-8 character is never split.
  std::string_view message;
  /// Length of the whole message in bytes.
  std::size_t message_size = 0;
  /// FNV-1a of the whole message when it was cut, else 0.
  std::uint64_t message_hash = 0;
  /// False for a type whose message Mishap does not know how to read; `message`
  /// is then "<no message>".
  bool has_message = false;
  /// what() gave a null pointer; `message` is empty.
  bool what_was_null = false;
  /// The errno value of a std::system_error of the generic or system category.
  std::optional<int> code;
  /// A backtrace that the exception itself carries as text (c10::Error), its
  /// first kMaxBacktraceBytes.
  std::string_view native_backtrace;
  /// Where this very object was thrown; none: only the catch site is known.
  std::optional<ThrowSite> site;
};

/// An exception and its causes, outermost first, in storage of its own (about
/// 80 KB: keep it where it can be reserved early, not on a small stack).
class ExceptionChain {
 public:
  static constexpr std::size_t kMaxDepth = 8;
  static constexpr std::size_t kMaxMessageBytes = 8 * 1024;
  static constexpr std::size_t kMaxBacktraceBytes = 4 * 1024;
  static constexpr std::size_t kTextBytes = 72 * 1024;

  ExceptionChain() = default;
  ExceptionChain(const ExceptionChain&) = delete;
  ExceptionChain& operator=(const ExceptionChain&) = delete;

  /// Replaces the content. Follows std::nested_exception and the causes that
  /// translators name. Does not rethrow, keeps no reference to the exception,
  /// works with exhausted memory (a type name then stays mangled), and never
  /// throws. A null pointer gives an empty chain.
  void describe(const std::exception_ptr& error) noexcept;

  std::span<const ChainEntry> entries() const noexcept {
    return {entries_.data(), size_};
  }
  /// There were more causes than kMaxDepth, or a cause that is already in the
  /// chain, or more text than fits.
  bool truncated() const noexcept { return truncated_; }

 private:
  std::string_view keep(std::string_view text, std::size_t limit) noexcept;
  void keep_type(ChainEntry& entry, const std::type_info& type) noexcept;
  void keep_message(ChainEntry& entry, std::string_view whole) noexcept;
  void keep_what(ChainEntry& entry, const char* what) noexcept;
  std::exception_ptr add(const std::exception_ptr& error) noexcept;

  std::array<ChainEntry, kMaxDepth> entries_{};
  std::size_t size_ = 0;
  std::array<char, kTextBytes> text_{};
  std::size_t text_size_ = 0;
  bool truncated_ = false;
};

}  // namespace mishap::collector
