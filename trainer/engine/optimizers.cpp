#include <mishap/trainer/engine/optimizers.h>
#include <mishap/trainer/guard/errors.h>

#include <string>
#include <unordered_set>

namespace mishap {

void check(const Optimizers& optimizers, std::string_view owner) {
  const auto refuse = [&](std::string_view what) {
    throw InputError(std::string(owner) + "::configure_optimizers " +
                     std::string(what));
  };
  if (optimizers.empty()) {
    refuse(
        "returned no optimizer; return for example "
        "torch::optim::Adam(parameters(), 1e-3)");
  }
  for (std::size_t i = 0; i < optimizers.size(); ++i) {
    std::unordered_set<const void*> seen;
    for (const auto& group : optimizers[i].param_groups()) {
      for (const torch::Tensor& parameter : group.params()) {
        if (!parameter.defined()) {
          refuse(
              "gave an undefined tensor to the optimizer; give the module's "
              "parameters()");
        }
        if (!seen.insert(parameter.unsafeGetTensorImpl()).second) {
          refuse(
              "gave the same parameter to the optimizer twice; give each one "
              "to one group only");
        }
      }
    }
    if (seen.empty()) {
      refuse(
          "returned an optimizer without parameters; register submodules and "
          "parameters before it is made and give it parameters()");
    }
  }
}

}  // namespace mishap
