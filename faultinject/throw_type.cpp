#include <mishap/faultinject/std_throw_types.h>
#include <mishap/faultinject/throw_type.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <stdexcept>

namespace mishap::faultinject {
namespace {

constexpr std::array<std::string_view, 6> kTorchTypes = {
    "c10", "c10_index", "c10_value", "c10_type", "c10_not_implemented", "oom"};

// A firing's label has to hold it.
constexpr std::size_t kMaxName = 32;

class ThrowTypes {
 public:
  static ThrowTypes& instance() {
    static ThrowTypes* const types = new ThrowTypes;
    return *types;
  }

  void add(ThrowType type) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = types_.try_emplace(type.name, type);
    if (!is_new) {
      throw std::invalid_argument("there is a throw type '" + type.name +
                                  "' already; give yours another name");
    }
  }

  const ThrowType* find(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto found = types_.find(name);
    return found == types_.end() ? nullptr : &found->second;
  }

  std::vector<std::string> names() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> all;
    for (const auto& [name, type] : types_) all.push_back(name);
    return all;
  }

 private:
  ThrowTypes() {
    for (ThrowType& type : std_throw_types()) {
      std::string name = type.name;
      types_.emplace(std::move(name), std::move(type));
    }
  }

  std::mutex mutex_;
  std::map<std::string, ThrowType, std::less<>> types_;
};

bool is_good_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

}  // namespace

void register_throw_type(std::string name, ThrowFunction thrower,
                         ThrowText text) {
  if (!is_good_name(name)) {
    throw std::invalid_argument("'" + name +
                                "' is no name for a throw type: use up to 32 "
                                "lower-case letters, digits and '_'");
  }
  ThrowTypes::instance().add({std::move(name), std::move(thrower), text});
}

const ThrowType* find_throw_type(std::string_view name) {
  return ThrowTypes::instance().find(name);
}

std::vector<std::string> throw_type_names() {
  return ThrowTypes::instance().names();
}

bool is_torch_throw_type(std::string_view name) {
  return std::find(kTorchTypes.begin(), kTorchTypes.end(), name) !=
         kTorchTypes.end();
}

}  // namespace mishap::faultinject
