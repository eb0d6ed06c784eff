#include <mishap/trainer/guard/component.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <string>

namespace mishap {
namespace {

constexpr std::size_t kMaxNames = 4096;

struct Names {
  std::mutex mutex;
  std::array<std::atomic<const std::string*>, kMaxNames> table{};
  std::size_t size = 1;
};

// Never destroyed: a crash after main still names its component.
Names& names() {
  static Names* const instance = new Names;
  return *instance;
}

}  // namespace

Component Component::named(std::string_view name) {
  if (name.empty()) {
    return {};
  }
  Names& all = names();
  const std::lock_guard lock(all.mutex);
  for (std::size_t i = 1; i < all.size; ++i) {
    if (*all.table[i].load(std::memory_order_relaxed) == name) {
      return from_index(static_cast<std::uint16_t>(i));
    }
  }
  if (all.size == kMaxNames) {
    return from_index(static_cast<std::uint16_t>(kMaxNames - 1));
  }
  const bool last = all.size == kMaxNames - 1;
  const auto* text = new std::string(last ? "<other>" : std::string(name));
  all.table[all.size].store(text, std::memory_order_release);
  return from_index(static_cast<std::uint16_t>(all.size++));
}

std::string_view Component::name() const noexcept {
  if (index_ == 0 || index_ >= kMaxNames) {
    return "";
  }
  const std::string* text =
      names().table[index_].load(std::memory_order_acquire);
  return text == nullptr ? std::string_view("") : std::string_view(*text);
}

std::string_view class_name(std::string_view type_name) noexcept {
  std::size_t depth = 0;
  std::size_t begin = 0;
  std::size_t end = type_name.size();
  for (std::size_t i = 0; i < type_name.size(); ++i) {
    const char c = type_name[i];
    if (c == '<') {
      if (depth++ == 0) {
        end = i;
      }
    } else if (c == '>') {
      --depth;
    } else if (c == ':' && depth == 0) {
      begin = i + 1;
      end = type_name.size();
    }
  }
  return type_name.substr(begin, end > begin ? end - begin : 0);
}

}  // namespace mishap
