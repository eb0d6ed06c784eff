#pragma once

#include <mishap/trainer/guard/contract.h>
#include <mishap/trainer/testing/spies.h>
#include <torch/types.h>

#include <memory>

namespace mishap {

/// States of LibTorch's CPU generator that a spy saw during a call.
struct RandomMarks {
  at::Tensor before_sanity_check;
  at::Tensor at_train_start;
};

/// A user whose callback draws random numbers in the sanity check and leaves a
/// flag of LibTorch switched on: the guard and the engine have to cope.
class Scribbler final : public SpyCallback {
 public:
  Scribbler(Journal& journal, RandomMarks& marks);

 protected:
  void note(Hook hook) override;

 private:
  RandomMarks& marks_;
};

/// C7: the sanity check took no random numbers from the training, in every
/// outcome.
std::unique_ptr<Checker> check_random_isolation(RandomMarks& marks);

}  // namespace mishap
