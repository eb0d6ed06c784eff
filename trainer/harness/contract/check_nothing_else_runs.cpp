#include <mishap/trainer/harness/contract/checkers.h>

#include <algorithm>

namespace mishap {
namespace {

bool belongs_to_cleanup(Hook hook) {
  // The last one for a crash checkpoint.
  return hook == Hook::kOnException || hook == Hook::kTeardown ||
         hook == Hook::kFinalize || hook == Hook::kOnSaveCheckpoint;
}

class NothingElseRuns final : public Checker {
 public:
  Clause clause() const noexcept override { return Clause::kC5; }

  std::optional<std::string> judge(const Observation& seen) override {
    const auto first = std::find_if(seen.journal.begin(), seen.journal.end(),
                                    [](const JournalEntry& entry) {
                                      return entry.hook == Hook::kOnException;
                                    });
    for (auto entry = first; entry != seen.journal.end(); ++entry) {
      if (!belongs_to_cleanup(entry->hook)) {
        return std::string(to_string(entry->hook)) + " of " +
               std::string(entry->component.name()) +
               " ran after the error had reached the guard";
      }
    }
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Checker> check_nothing_else_runs() {
  return std::make_unique<NothingElseRuns>();
}

}  // namespace mishap
