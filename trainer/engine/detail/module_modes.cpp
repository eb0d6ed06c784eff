#include <mishap/trainer/engine/detail/module_modes.h>

namespace mishap::detail {

ModuleModes::ModuleModes(Module& module)
    : module_(module),
      training_(module.is_training()),
      submodules_(module.modules(/*include_self=*/false)) {
  training_of_.reserve(submodules_.size());
  for (const auto& submodule : submodules_) {
    training_of_.push_back(submodule->is_training());
  }
}

void ModuleModes::restore() const {
  if (module_.is_training() != training_) {
    module_.train(training_);
  }
  for (std::size_t i = 0; i < submodules_.size(); ++i) {
    if (submodules_[i]->is_training() != training_of_[i]) {
      submodules_[i]->train(training_of_[i]);
    }
  }
}

}  // namespace mishap::detail
