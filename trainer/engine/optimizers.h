#pragma once

#include <torch/torch.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace mishap {

/// What `configure_optimizers` returns: an optimizer and, if wanted, a
/// scheduler of its learning rate.
///
///     Optimizers configure_optimizers() override {
///       return torch::optim::Adam(parameters(), 1e-3);
///     }
///     Optimizers configure_optimizers() override {
///       return Optimizers(torch::optim::SGD(parameters(), 0.1))
///           .schedule<torch::optim::StepLR>(Optimizers::Every::kEpoch,
///                                           /*step_size=*/10, /*gamma=*/0.5);
///     }
class Optimizers {
 public:
  /// When the scheduler steps.
  enum class Every : std::uint8_t { kEpoch, kStep };

  /// None: right for a module that is never fitted.
  Optimizers() = default;

  template <std::derived_from<torch::optim::Optimizer> O>
  Optimizers(O optimizer)  // NOLINT(google-explicit-constructor)
      : optimizer_(std::make_unique<O>(std::move(optimizer))) {}

  /// For an optimizer that is held by its base.
  explicit Optimizers(std::unique_ptr<torch::optim::Optimizer> optimizer)
      : optimizer_(std::move(optimizer)) {}

  /// Adds the scheduler S, made from the optimizer and `arguments`. REQUIRES:
  /// there is an optimizer.
  template <std::derived_from<torch::optim::LRScheduler> S, class... Arguments>
  Optimizers&& schedule(Every every, Arguments&&... arguments) && {
    scheduler_ =
        std::make_unique<S>(*optimizer_, std::forward<Arguments>(arguments)...);
    every_ = every;
    return std::move(*this);
  }

  torch::optim::Optimizer* optimizer() const noexcept {
    return optimizer_.get();
  }
  torch::optim::LRScheduler* scheduler() const noexcept {
    return scheduler_.get();
  }
  Every every() const noexcept { return every_; }

 private:
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  // Refers to the optimizer, so it goes first.
  std::unique_ptr<torch::optim::LRScheduler> scheduler_;
  Every every_ = Every::kEpoch;
};

/// Throws InputError unless there is an optimizer, it has parameters, and none
/// is given twice. `owner` names the class whose hook returned it.
void check(const Optimizers& optimizers, std::string_view owner);

}  // namespace mishap
