#pragma once

#include "engine_support.h"

namespace mishap::engine_test {

/// Its validation logs what the script says of each epoch, its training the
/// negative of that.
class ScriptedModule : public TinyModule {
 public:
  explicit ScriptedModule(std::vector<double> values)
      : values_(std::move(values)) {}

  torch::Tensor training_step(const Batch& batch, std::int64_t) override {
    log("train_score", -value());
    log("shown", value(), {.progress_bar = true});
    return loss_of(batch);
  }
  void validation_step(const Batch&, std::int64_t) override {
    log("score",
        session().place().stage == Stage::kSanityCheck ? sanity : value());
  }

  double sanity = -1000;

 private:
  double value() {
    return values_.at(static_cast<std::size_t>(session().place().epoch));
  }

  std::vector<double> values_;
};

}  // namespace mishap::engine_test
