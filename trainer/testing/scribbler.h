#pragma once

#include <mishap/trainer/guard/contract.h>
#include <mishap/trainer/testing/spies.h>

#include <memory>
#include <string>

namespace mishap {

/// States of LibTorch's CPU generator, as bytes, when the data module was asked
/// for its loaders in a fit: the sanity check lies between the two.
class RandomMarks {
 public:
  /// Marks from what spies note in that journal.
  explicit RandomMarks(Journal& journal);

  const std::string& before_sanity_check() const noexcept { return before_; }
  const std::string& before_training() const noexcept { return training_; }
  void clear() noexcept;

 private:
  std::string before_;
  std::string training_;
};

/// A user whose callback draws random numbers in the sanity check and leaves a
/// flag of LibTorch switched on: the guard and the engine have to cope.
class Scribbler final : public SpyCallback {
 public:
  explicit Scribbler(Journal& journal);

 protected:
  void note(Hook hook) override;
};

/// C7: the sanity check took no random numbers from the training, in every
/// outcome.
std::unique_ptr<Checker> check_random_isolation(RandomMarks& marks);

}  // namespace mishap
