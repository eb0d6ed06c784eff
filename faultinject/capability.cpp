#include <mishap/faultinject/capability.h>

#include <array>

namespace mishap::faultinject {
namespace {

using enum Capability;

constexpr std::array kFamilies = {
    Family{"hook", kControl, "hook/<hook>/<component>"},
    Family{"op", kControl | kValue, "op/<operator>"},
    Family{"alloc", kControl | kIo, "alloc/<device>"},
    Family{"io", kControl | kIo | kValue, "io/<file kind>/<call>"},
    Family{"loader", kControl | kValue, "loader/<stage>/<call>"},
    Family{"comm", kControl | kValue, "comm/<collective>"},
    Family{"user", kControl | kReturn, "user/<name>"},
};

}  // namespace

std::span<const Family> families() { return kFamilies; }

const Family* find_family(std::string_view name) {
  for (const Family& family : kFamilies) {
    if (family.name == name) return &family;
  }
  return nullptr;
}

}  // namespace mishap::faultinject
