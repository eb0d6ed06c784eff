#pragma once

#include <mishap/trainer/engine/module.h>

#include <memory>
#include <vector>

namespace mishap::detail {

/// The training flag of a module and each of its submodules, as it was.
class ModuleModes {
 public:
  explicit ModuleModes(Module& module);

  /// Puts every flag back; calls train() only where one differs.
  void restore() const;

 private:
  Module& module_;
  bool training_;
  // Parents before their children, since train() reaches down.
  std::vector<std::shared_ptr<torch::nn::Module>> submodules_;
  std::vector<bool> training_of_;
};

}  // namespace mishap::detail
