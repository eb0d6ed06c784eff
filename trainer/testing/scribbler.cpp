#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <mishap/trainer/testing/scribbler.h>
#include <torch/torch.h>

namespace mishap {
namespace {

std::string random_state() {
  const at::Tensor state = at::detail::getDefaultCPUGenerator().get_state();
  return {static_cast<const char*>(state.data_ptr()), state.nbytes()};
}

class RandomIsolation final : public Checker {
 public:
  explicit RandomIsolation(RandomMarks& marks) : marks_(marks) {}

  Clause clause() const noexcept override { return Clause::kC7; }
  void before() override { marks_.clear(); }
  void after() override { after_ = random_state(); }

  std::optional<std::string> judge(const Observation& seen) override {
    if (marks_.before_sanity_check().empty()) {
      return std::nullopt;
    }
    const std::string& later =
        marks_.before_training().empty() && ended_in_sanity_check(seen)
            ? after_
            : marks_.before_training();
    if (!later.empty() && later != marks_.before_sanity_check()) {
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
  std::string after_;
};

}  // namespace

RandomMarks::RandomMarks(Journal& journal) {
  journal.listen([this](Component, Hook hook) {
    if (hook == Hook::kValDataloader && before_.empty()) {
      before_ = random_state();
    } else if (hook == Hook::kTrainDataloader && training_.empty()) {
      training_ = random_state();
    }
  });
}

void RandomMarks::clear() noexcept {
  before_.clear();
  training_.clear();
}

Scribbler::Scribbler(Journal& journal) : SpyCallback(journal, "Scribbler") {}

void Scribbler::note(Hook hook) {
  SpyCallback::note(hook);
  if (hook == Hook::kSetup) {
    // Turned over, not set: a flag that was left on once would hide the next.
    at::globalContext().setDeterministicAlgorithms(
        !at::globalContext().deterministicAlgorithms(), /*warn_only=*/true);
  } else if (hook == Hook::kOnValidationBatchStart) {
    torch::rand({1});
  }
}

std::unique_ptr<Checker> check_random_isolation(RandomMarks& marks) {
  return std::make_unique<RandomIsolation>(marks);
}

}  // namespace mishap
