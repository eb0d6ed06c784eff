#include <mishap/trainer/harness/contract/checkers.h>

namespace mishap {
namespace {

bool same_place(const Place& a, const Place& b) {
  return a.stage == b.stage && a.hook == b.hook && a.component == b.component &&
         a.epoch == b.epoch && a.batch == b.batch && a.step == b.step;
}

class ToldOnce final : public Checker {
 public:
  Clause clause() const noexcept override { return Clause::kC3; }

  std::optional<std::string> judge(const Observation& seen) override {
    if (seen.caught == nullptr) {
      // Nobody can be told of an error that nobody has: that is C1's.
      return std::nullopt;
    }
    const JournalEntry* first = nullptr;
    for (const Component component : seen.components) {
      int told = 0;
      bool torn_down = false;
      for (const JournalEntry& entry : seen.journal) {
        if (entry.component != component) {
          continue;
        }
        torn_down |= told == 0 && entry.hook == Hook::kTeardown;
        if (entry.hook != Hook::kOnException) {
          continue;
        }
        ++told;
        if (entry.late != torn_down) {
          return std::string(component.name()) +
                 " was told a wrong word about its teardown (late)";
        }
        if (first == nullptr) {
          first = &entry;
        }
        // What came out of a nested run came, for this one, where it was.
        if (seen.hook != Hook::kNone &&
            seen.first_record() == seen.own_record() &&
            (entry.place.hook != seen.hook ||
             entry.place.component != seen.component)) {
          return std::string(component.name()) +
                 " was told that the error came in " +
                 std::string(to_string(entry.place.hook)) + " of " +
                 std::string(entry.place.component.name());
        }
        if (entry.entry_point != seen.entry_point ||
            !same_place(entry.place, first->place)) {
          return std::string(component.name()) +
                 " was told another place than the others";
        }
      }
      if (told != 1) {
        return std::string(component.name()) + " was told " +
               std::to_string(told) + " times of the error";
      }
    }
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Checker> check_told_once() {
  return std::make_unique<ToldOnce>();
}

}  // namespace mishap
