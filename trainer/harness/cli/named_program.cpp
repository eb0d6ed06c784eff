#include <mishap/faultinject/throw_type.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/named_program.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace mishap::cli {

std::vector<std::string> take_program(Invocation& invocation) {
  const auto end = std::ranges::find(invocation.words, "--");
  std::vector<std::string> words;
  if (end != invocation.words.end()) {
    words.assign(end + 1, invocation.words.end());
    invocation.words.erase(end, invocation.words.end());
  }
  return words;
}

void refuse_program(const Invocation& invocation) {
  if (std::ranges::find(invocation.words, "--") != invocation.words.end()) {
    throw InputError(
        "'-- PROGRAM' is done by the command mishap: type 'mishap " +
        invocation.command + " -- PROGRAM', or name a task here");
  }
}

void know_torch_types() {
  for (const char* const name : {"c10", "c10_index", "c10_value", "oom"}) {
    if (faultinject::find_throw_type(name) == nullptr) {
      faultinject::register_throw_type(name, [](std::string_view text) {
        throw std::logic_error(std::string(text));
      });
    }
  }
}

}  // namespace mishap::cli
