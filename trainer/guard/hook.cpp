#include <mishap/trainer/guard/hook.h>

#include <array>

namespace mishap {
namespace {

constexpr std::array<std::string_view, kHookCount + 1> kHookNames = {
#define MISHAP_HOOK_NAME(name, text) text,
    MISHAP_FOR_EACH_HOOK(MISHAP_HOOK_NAME)
#undef MISHAP_HOOK_NAME
};

}  // namespace

std::string_view to_string(Hook hook) noexcept {
  return kHookNames[static_cast<std::size_t>(hook)];
}

std::optional<Hook> hook_from_string(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kHookCount; ++i) {
    if (kHookNames[i] == name) {
      return static_cast<Hook>(i);
    }
  }
  return std::nullopt;
}

}  // namespace mishap
