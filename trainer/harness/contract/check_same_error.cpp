#include <mishap/trainer/harness/contract/checkers.h>

namespace mishap {
namespace {

class SameError final : public Checker {
 public:
  Clause clause() const noexcept override { return Clause::kC1; }

  std::optional<std::string> judge(const Observation& seen) override {
    if (!seen.failed() && (seen.signal != 0 || seen.may_succeed)) {
      // No error came of it: of a signal, that it was swallowed is C12's; of an
      // error, that the run recovered is its right.
      return std::nullopt;
    }
    if (seen.caught == nullptr) {
      return "the caller caught nothing although the fault fired";
    }
    for (const JournalEntry& entry : seen.journal) {
      if (entry.hook == Hook::kOnException && entry.error != seen.caught) {
        return "the caller caught another object than on_exception of " +
               std::string(entry.component.name()) + " was told";
      }
    }
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Checker> check_same_error() {
  return std::make_unique<SameError>();
}

}  // namespace mishap
