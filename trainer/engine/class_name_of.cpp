#include <cxxabi.h>
#include <mishap/trainer/engine/class_name_of.h>
#include <mishap/trainer/guard/component.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <typeindex>
#include <unordered_map>

namespace mishap {
namespace {

std::string short_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return std::string(class_name(status == 0 ? demangled.get() : type.name()));
}

struct ShortNames {
  std::mutex mutex;
  std::unordered_map<std::type_index, std::string> by_type;
};

}  // namespace

std::string class_name_of_type(const std::type_info& type) {
  static ShortNames* const names = new ShortNames;
  const std::lock_guard lock(names->mutex);
  const auto found = names->by_type.find(type);
  if (found != names->by_type.end()) {
    return found->second;
  }
  return names->by_type.emplace(type, short_name(type)).first->second;
}

}  // namespace mishap
