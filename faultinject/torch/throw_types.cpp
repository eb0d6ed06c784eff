#include <c10/util/Exception.h>
#include <mishap/faultinject/throw_type.h>
#include <mishap/faultinject/torch/throw_types.h>

#include <string>
#include <type_traits>

namespace mishap::faultinject {
namespace {

// With a backtrace of its own: LibTorch would symbolise one at every throw,
// which takes milliseconds. Later versions take a lazy one, or none.
template <typename Error>
[[noreturn]] void throw_error(std::string_view text) {
  if constexpr (std::is_constructible_v<Error, std::string, std::string>) {
    throw Error(std::string(text), std::string());
  } else {
    throw Error(std::string(text), nullptr);
  }
}

bool register_all() {
  register_throw_type("c10", throw_error<c10::Error>);
  register_throw_type("c10_index", throw_error<c10::IndexError>);
  register_throw_type("c10_value", throw_error<c10::ValueError>);
  register_throw_type("c10_type", throw_error<c10::TypeError>);
  register_throw_type("c10_not_implemented",
                      throw_error<c10::NotImplementedError>);
  register_throw_type("oom", throw_error<c10::OutOfMemoryError>);
  return true;
}

}  // namespace

void register_torch_throw_types() {
  [[maybe_unused]] static const bool registered = register_all();
}

}  // namespace mishap::faultinject
