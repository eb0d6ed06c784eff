#pragma once

#include <mishap/collector/resolve/frame.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace mishap::collector::detail {

/// Frames by instruction address, and the texts they refer to, for the life of
/// the process. Not locked: its owner is.
class NameCache {
 public:
  /// The same text, kept. Throws std::bad_alloc only.
  std::string_view intern(std::string_view text);
  /// The readable form of a mangled name, kept.
  std::string_view readable(std::string_view symbol);

  /// Null when the address is unknown; else alive until the cache changes.
  const std::vector<Frame>* find(std::uintptr_t address) const;
  const std::vector<Frame>& insert(std::uintptr_t address,
                                   std::vector<Frame> names);
  /// The texts stay.
  void forget_addresses() { names_.clear(); }

 private:
  std::unordered_set<std::string> texts_;
  std::unordered_map<std::string_view, std::string_view> readable_;
  std::unordered_map<std::uintptr_t, std::vector<Frame>> names_;
};

}  // namespace mishap::collector::detail
