#include <mishap/collector/demangle.h>
#include <mishap/collector/exception_chain.h>
#include <mishap/collector/exception_translator.h>
#include <mishap/collector/utf8.h>

#include <algorithm>
#include <string>
#include <system_error>

namespace mishap::collector {
namespace {

constexpr std::string_view kNoMessage = "<no message>";

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char byte : text) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3ULL;
  }
  return hash;
}

std::string_view unwrap_nested(std::string_view type) {
  constexpr std::string_view kWrapper = "std::_Nested_exception<";
  if (!type.starts_with(kWrapper) || !type.ends_with('>')) {
    return type;
  }
  type.remove_prefix(kWrapper.size());
  type.remove_suffix(1);
  while (type.ends_with(' ')) {
    type.remove_suffix(1);
  }
  return type;
}

template <typename T>
const T* thrown_as_exactly(const std::exception_ptr& error) {
  return *exception_type(error) == typeid(T)
             ? static_cast<const T*>(exception_object(error))
             : nullptr;
}

std::optional<std::string_view> text_of(const std::exception_ptr& error) {
  if (const auto* text = exception_as<std::string>(error)) {
    return *text;
  }
  if (const auto* text = thrown_as_exactly<std::string_view>(error)) {
    return *text;
  }
  const char* const* text = thrown_as_exactly<const char*>(error);
  if (text == nullptr) {
    text = thrown_as_exactly<char*>(error);
  }
  if (text == nullptr) {
    return std::nullopt;
  }
  return *text == nullptr ? std::string_view() : std::string_view(*text);
}

std::optional<int> errno_of(const std::exception_ptr& error) {
  const auto* system = exception_as<std::system_error>(error);
  if (system == nullptr) {
    return std::nullopt;
  }
  const std::error_code& code = system->code();
  const bool is_errno = code.category() == std::generic_category() ||
                        code.category() == std::system_category();
  return is_errno ? std::optional<int>(code.value()) : std::nullopt;
}

}  // namespace

void ExceptionChain::describe(const std::exception_ptr& error) noexcept {
  size_ = 0;
  text_size_ = 0;
  truncated_ = false;
  std::array<const void*, kMaxDepth> seen{};
  std::exception_ptr next = error;
  while (next) {
    const void* object = exception_object(next);
    const auto seen_end = seen.begin() + size_;
    if (size_ == kMaxDepth ||
        std::find(seen.begin(), seen_end, object) != seen_end) {
      truncated_ = true;
      return;
    }
    seen[size_] = object;
    next = add(next);
  }
}

std::exception_ptr ExceptionChain::add(
    const std::exception_ptr& error) noexcept {
  ChainEntry& entry = entries_[size_++];
  entry = ChainEntry{};
  keep_type(entry, *exception_type(error));
  entry.site = find_throw_site(error);
  entry.code = errno_of(error);

  Translation translation;
  if (detail::translate(error, translation)) {
    keep_what(entry, translation.message);
    entry.native_backtrace =
        keep(translation.native_backtrace, kMaxBacktraceBytes);
    entry.code = translation.code ? translation.code : entry.code;
  } else if (const auto* standard = exception_as<std::exception>(error)) {
    keep_what(entry, standard->what());
  } else if (const auto text = text_of(error)) {
    keep_message(entry, *text);
  } else {
    entry.message = kNoMessage;
  }
  if (translation.cause) {
    return translation.cause;
  }
  const auto* nested = exception_as<std::nested_exception>(error);
  return nested == nullptr ? nullptr : nested->nested_ptr();
}

void ExceptionChain::keep_type(ChainEntry& entry,
                               const std::type_info& type) noexcept {
  try {
    const std::string name = type_name(type);
    entry.type = keep(unwrap_nested(name), kMaxMessageBytes);
  } catch (...) {
    entry.type = keep(type.name(), kMaxMessageBytes);
  }
}

void ExceptionChain::keep_what(ChainEntry& entry, const char* what) noexcept {
  entry.what_was_null = what == nullptr;
  keep_message(entry, what == nullptr ? std::string_view("") : what);
}

void ExceptionChain::keep_message(ChainEntry& entry,
                                  std::string_view whole) noexcept {
  entry.has_message = true;
  entry.message = keep(whole, kMaxMessageBytes);
  entry.message_size = whole.size();
  entry.message_hash = entry.message.size() < whole.size() ? fnv1a(whole) : 0;
}

std::string_view ExceptionChain::keep(std::string_view text,
                                      std::size_t limit) noexcept {
  const std::size_t room = kTextBytes - text_size_;
  truncated_ = truncated_ || std::min(text.size(), limit) > room;
  const std::string_view kept = clip_utf8(text, std::min(limit, room));
  char* target = text_.data() + text_size_;
  std::copy(kept.begin(), kept.end(), target);
  text_size_ += kept.size();
  return {target, kept.size()};
}

}  // namespace mishap::collector
