#include <mishap/trainer/harness/contract/checkers.h>

#include <algorithm>

namespace mishap {
namespace {

class TornDownOnce final : public Checker {
 public:
  Clause clause() const noexcept override { return Clause::kC4; }

  std::optional<std::string> judge(const Observation& seen) override {
    for (const Component component : seen.components) {
      bool begun = false;
      int torn_down = 0;
      for (const JournalEntry& entry : seen.journal) {
        if (entry.component != component) {
          continue;
        }
        begun |= entry.hook == Hook::kSetup || entry.hook == Hook::kPrepareData;
        torn_down += entry.hook == Hook::kTeardown ? 1 : 0;
      }
      const int due = begun ? 1 : 0;
      if (torn_down != due) {
        return std::string(component.name()) + " was torn down " +
               std::to_string(torn_down) + " times, " + std::to_string(due) +
               " is right";
      }
    }
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Checker> check_torn_down_once() {
  return std::make_unique<TornDownOnce>();
}

}  // namespace mishap
