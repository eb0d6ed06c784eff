#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <mishap/trainer/testing/scribbler.h>
#include <torch/torch.h>

namespace mishap {
namespace {

at::Tensor random_state() {
  return at::detail::getDefaultCPUGenerator().get_state();
}

class RandomIsolation final : public Checker {
 public:
  explicit RandomIsolation(RandomMarks& marks) : marks_(marks) {}

  Clause clause() const noexcept override { return Clause::kC7; }
  void before() override { marks_ = {}; }
  void after() override { after_ = random_state(); }

  std::optional<std::string> judge(const Observation& seen) override {
    if (!marks_.before_sanity_check.defined()) {
      return std::nullopt;
    }
    at::Tensor later = marks_.at_train_start;
    if (!later.defined() && ended_in_sanity_check(seen)) {
      later = after_;
    }
    if (later.defined() && !later.equal(marks_.before_sanity_check)) {
      return "the sanity check took random numbers from the training";
    }
    return std::nullopt;
  }

 private:
  static bool ended_in_sanity_check(const Observation& seen) {
    for (const JournalEntry& entry : seen.journal) {
      if (entry.hook == Hook::kOnException) {
        return entry.place.stage == Stage::kSanityCheck;
      }
    }
    return false;
  }

  RandomMarks& marks_;
  at::Tensor after_;
};

}  // namespace

Scribbler::Scribbler(Journal& journal, RandomMarks& marks)
    : SpyCallback(journal, "Scribbler"), marks_(marks) {}

void Scribbler::note(Hook hook) {
  SpyCallback::note(hook);
  switch (hook) {
    case Hook::kSetup:
      at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
      break;
    case Hook::kOnSanityCheckStart:
      marks_.before_sanity_check = random_state();
      break;
    case Hook::kOnValidationBatchStart:
      torch::rand({1});
      break;
    case Hook::kOnTrainStart:
      marks_.at_train_start = random_state();
      break;
    default:
      break;
  }
}

std::unique_ptr<Checker> check_random_isolation(RandomMarks& marks) {
  return std::make_unique<RandomIsolation>(marks);
}

}  // namespace mishap
