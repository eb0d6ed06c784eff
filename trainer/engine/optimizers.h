#pragma once

#include <mishap/trainer/engine/plateau.h>
#include <torch/torch.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace mishap {

/// What `configure_optimizers` returns: the optimizers and, if wanted,
/// schedulers of their learning rates.
///
///     Optimizers configure_optimizers() override {
///       return torch::optim::Adam(parameters(), 1e-3);
///     }
///     Optimizers configure_optimizers() override {
///       return Optimizers(torch::optim::SGD(parameters(), 0.1))
///           .schedule<torch::optim::StepLR>(Optimizers::Every::kEpoch,
///                                           /*step_size=*/10, /*gamma=*/0.5);
///     }
///     Optimizers configure_optimizers() override {
///       return Optimizers(torch::optim::Adam(generator->parameters(), 1e-4))
///           .add(torch::optim::Adam(critic->parameters(), 1e-3));
///     }
///
/// More than one needs Module::automatic_optimization() to be false.
class Optimizers {
 public:
  /// When a scheduler steps.
  enum class Every : std::uint8_t { kEpoch, kStep };

  /// A scheduler and what it belongs to. One of the two is set.
  struct Schedule {
    std::size_t optimizer = 0;
    Every every = Every::kEpoch;
    std::unique_ptr<torch::optim::LRScheduler> scheduler;
    std::unique_ptr<ReduceOnPlateau> plateau;
    /// How often it has stepped in this fit, what came before a resume
    /// included.
    std::int64_t steps = 0;
  };

  /// None: right for a module that is never fitted.
  Optimizers() = default;

  template <std::derived_from<torch::optim::Optimizer> O>
  Optimizers(O optimizer) {  // NOLINT(google-explicit-constructor)
    optimizers_.push_back(std::make_unique<O>(std::move(optimizer)));
  }

  /// For an optimizer that is held by its base.
  explicit Optimizers(std::unique_ptr<torch::optim::Optimizer> optimizer) {
    if (optimizer != nullptr) {
      optimizers_.push_back(std::move(optimizer));
    }
  }

  /// One more optimizer.
  template <std::derived_from<torch::optim::Optimizer> O>
  Optimizers&& add(O optimizer) && {
    optimizers_.push_back(std::make_unique<O>(std::move(optimizer)));
    return std::move(*this);
  }

  /// Adds the scheduler S of the optimizer that was added last, made from it
  /// and `arguments`. REQUIRES: there is an optimizer.
  template <std::derived_from<torch::optim::LRScheduler> S, class... Arguments>
  Optimizers&& schedule(Every every, Arguments&&... arguments) && {
    Schedule& added = add_schedule(every);
    added.scheduler = std::make_unique<S>(
        *optimizers_.back(), std::forward<Arguments>(arguments)...);
    return std::move(*this);
  }

  /// Lowers the learning rate of the optimizer that was added last when a
  /// metric no longer improves; steps after each epoch that validated, or after
  /// every one when nothing validates. REQUIRES: there is an optimizer.
  Optimizers&& reduce_on_plateau(PlateauOptions options) && {
    add_schedule(Every::kEpoch).plateau = std::make_unique<ReduceOnPlateau>(
        *optimizers_.back(), std::move(options));
    return std::move(*this);
  }

  std::size_t size() const noexcept { return optimizers_.size(); }
  bool empty() const noexcept { return optimizers_.empty(); }
  torch::optim::Optimizer& operator[](std::size_t index) const {
    return *optimizers_.at(index);
  }
  std::vector<Schedule>& schedules() noexcept { return schedules_; }

 private:
  Schedule& add_schedule(Every every) {
    Schedule& added = schedules_.emplace_back();
    added.optimizer = optimizers_.size() - 1;
    added.every = every;
    return added;
  }

  std::vector<std::unique_ptr<torch::optim::Optimizer>> optimizers_;
  // Refer to the optimizers, so they go first.
  std::vector<Schedule> schedules_;
};

/// Throws InputError unless there is an optimizer, each has parameters, and
/// none is given twice to one. `owner` names the class whose hook returned it.
void check(const Optimizers& optimizers, std::string_view owner);

}  // namespace mishap
