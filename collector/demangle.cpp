#include <cxxabi.h>
#include <mishap/collector/demangle.h>

#include <cstdlib>
#include <memory>

namespace mishap::collector {
namespace {

bool opens(char c) { return c == '<' || c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == '>' || c == ')' || c == ']' || c == '}'; }

// Where the bracket group that ends the text begins.
std::size_t last_group(std::string_view text) {
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    depth += closes(text[i]) ? 1 : opens(text[i]) ? -1 : 0;
    if (depth == 0) {
      return i;
    }
  }
  return 0;
}

}  // namespace

std::string demangle(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return status == 0 && readable ? readable.get() : mangled;
}

std::string type_name(const std::type_info& type) {
  return demangle(type.name());
}

std::string_view short_type_name(std::string_view name) noexcept {
  while (name.size() > 1 && name.back() == '>') {
    const std::size_t group = last_group(name);
    if (group == 0) {
      return name;
    }
    name.remove_suffix(name.size() - group);
  }
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 1;) {
    depth += closes(name[i]) ? 1 : opens(name[i]) ? -1 : 0;
    if (depth == 0 && name[i] == ':' && name[i - 1] == ':') {
      return name.substr(i + 1);
    }
  }
  return name;
}

}  // namespace mishap::collector
