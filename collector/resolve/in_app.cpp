#include <mishap/collector/resolve/in_app.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace mishap::collector {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

// <source-name> of the Itanium ABI: a length and that many characters.
std::string_view take_name(std::string_view& text) {
  std::size_t length = 0;
  while (!text.empty() && is_digit(text.front()) && length < text.size()) {
    length = length * 10 + static_cast<std::size_t>(text.front() - '0');
    text.remove_prefix(1);
  }
  const std::string_view name = text.substr(0, length);
  text.remove_prefix(name.size());
  return name;
}

// A thunk's offsets stand before the member function that it enters, whose
// name is nested and so begins with N.
void skip_thunk(std::string_view& text) {
  if (take(text, "Th") || take(text, "Tv")) {
    text.remove_prefix(std::min(text.find('N'), text.size()));
  }
}

// Nested and local names, cv- and ref-qualifiers, internal linkage.
void skip_qualifiers(std::string_view& text) {
  constexpr std::string_view kQualifiers = "ZNKVrROL";
  while (!text.empty() &&
         kQualifiers.find(text.front()) != std::string_view::npos) {
    text.remove_prefix(1);
  }
}

// The first components of a name: enough to tell whose it is.
using Scopes = std::array<std::string_view, 3>;

std::string_view take_scope(std::string_view& text) {
  skip_qualifiers(text);
  while (take(text, "12_GLOBAL__N_1")) {
    skip_qualifiers(text);
  }
  if (text.size() >= 2 && text[0] == 'S' &&
      std::string_view("tabsiod").find(text[1]) != std::string_view::npos) {
    text.remove_prefix(2);
    return "std";
  }
  return take_name(text);
}

Scopes scopes_of(std::string_view symbol) {
  Scopes scopes;
  if (take(symbol, "_Z")) {
    skip_thunk(symbol);
    for (std::string_view& scope : scopes) {
      scope = take_scope(symbol);
    }
  }
  return scopes;
}

bool is_library_scope(const Scopes& scopes) {
  constexpr std::array<std::string_view, 8> kLibraries = {
      "std", "__gnu_cxx", "__cxxabiv1", "c10",
      "at",  "torch",     "caffe2",     "mishap"};
  const bool known = std::find(kLibraries.begin(), kLibraries.end(),
                               scopes[0]) != kLibraries.end();
  return known && !(scopes[0] == "mishap" && scopes[1] == "tasks");
}

bool is_system_file(std::string_view file) {
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/");
}

// Our own sources and headers, installed or not: with line tables only a name
// comes without its namespace.
bool is_own_file(std::string_view file) {
  constexpr std::string_view kThisFile = __FILE__;
  constexpr std::string_view kRoot =
      kThisFile.substr(0, kThisFile.rfind("collector/"));
  if (file.find("/include/mishap/") != std::string_view::npos) {
    return true;
  }
  if (!file.starts_with(kRoot)) {
    return false;
  }
  file.remove_prefix(kRoot.size());
  constexpr std::array<std::string_view, 8> kRooms = {
      "collector/",       "faultinject/",    "trainer/cli_torch/",
      "trainer/engine/",  "trainer/guard/",  "trainer/harness/",
      "trainer/testing/", "trainer/trainer."};
  return std::any_of(kRooms.begin(), kRooms.end(), [&](std::string_view room) {
    return file.starts_with(room);
  });
}

bool is_in_libstdcxx(const Frame& frame) {
  if (frame.module == kNoModule) {
    return false;
  }
  const std::string_view path =
      module_at(static_cast<std::size_t>(frame.module)).path;
  return path.find("/libstdc++.so") != std::string_view::npos;
}

}  // namespace

std::string_view outermost_scope(std::string_view symbol) noexcept {
  return scopes_of(symbol)[0];
}

bool is_in_app(const Frame& frame) noexcept {
  return frame.module != kNoModule &&
         is_in_app(
             frame.symbol, frame.function, frame.file,
             module_at(static_cast<std::size_t>(frame.module)).is_foreign);
}

bool is_in_app(std::string_view symbol, std::string_view function,
               std::string_view file, bool foreign) noexcept {
  if (foreign || is_library_scope(scopes_of(symbol)) || is_own_file(file)) {
    return false;
  }
  const bool starts_up = symbol == "_start" || function == "_start";
  return !starts_up && !is_system_file(file);
}

bool only_throws(const Frame& frame) noexcept {
  if (frame.symbol.empty()) {
    return is_in_libstdcxx(frame);
  }
  if (frame.symbol.ends_with("__cxa_throw")) {
    return true;
  }
  const Scopes scopes = scopes_of(frame.symbol);
  if (scopes[0] == "std") {
    return scopes[1].starts_with("__throw_");
  }
  const bool is_c10_detail = scopes[0] == "c10" && scopes[1] == "detail";
  return is_c10_detail && (scopes[2].starts_with("torchCheckFail") ||
                           scopes[2].starts_with("torchInternalAssertFail"));
}

}  // namespace mishap::collector
