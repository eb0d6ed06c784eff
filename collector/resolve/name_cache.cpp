#include <mishap/collector/demangle.h>
#include <mishap/collector/resolve/name_cache.h>

#include <algorithm>
#include <string>
#include <utility>

namespace mishap::collector::detail {

std::string_view NameCache::intern(std::string_view text) {
  return text.empty() ? std::string_view() : *texts_.emplace(text).first;
}

std::string_view NameCache::readable(std::string_view symbol) {
  const auto known = readable_.find(symbol);
  if (known != readable_.end()) {
    return known->second;
  }
  const std::string_view kept = intern(symbol);
  std::string text = demangle(kept.data());
  // The parts that GCC splits a function into are the same function to a
  // reader.
  text.erase(std::min(text.find(" [clone "), text.size()));
  const std::string_view name = intern(text);
  readable_.emplace(kept, name);
  return name;
}

const std::vector<Frame>* NameCache::find(std::uintptr_t address) const {
  const auto found = names_.find(address);
  return found == names_.end() ? nullptr : &found->second;
}

const std::vector<Frame>& NameCache::insert(std::uintptr_t address,
                                            std::vector<Frame> names) {
  return names_.insert_or_assign(address, std::move(names)).first->second;
}

}  // namespace mishap::collector::detail
