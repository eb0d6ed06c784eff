#include <gtest/gtest.h>
#include <mishap/trainer/harness/contract/checkers.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace mishap {
namespace {

// One failed call: an error thrown in the training step of the module, of which
// a callback and the file tell a place.
class PlaceChecks : public ::testing::Test {
 protected:
  bool breaks(Checker& checker, Hook told, const std::string& recorded) {
    const std::exception_ptr error =
        std::make_exception_ptr(std::runtime_error("x"));
    const Component callback = Component::named("callback.Spy");
    JournalEntry entry;
    entry.component = callback;
    entry.hook = Hook::kOnException;
    entry.error = error;
    entry.entry_point = "fit";
    entry.place.hook = told;
    entry.place.component = Component::named("module");
    const std::vector<JournalEntry> journal = {entry};
    const std::vector<Component> components = {callback};
    const std::vector<RecordSeen> records = {{.record_id = "1",
                                              .run_id = "2",
                                              .parent_run_id = "",
                                              .kind = "error",
                                              .entry_point = "fit",
                                              .stage = "train",
                                              .hook = recorded,
                                              .component = "module"}};
    Observation seen;
    seen.entry_point = "fit";
    seen.hook = Hook::kTrainingStep;
    seen.component = Component::named("module");
    seen.caught = error;
    seen.journal = journal;
    seen.components = components;
    seen.records = records;
    return checker.judge(seen).has_value();
  }

  std::unique_ptr<Checker> told_ = check_told_once();
  std::unique_ptr<Checker> record_ = check_one_record();
};

TEST_F(PlaceChecks, AreContentWithTheRightPlace) {
  EXPECT_FALSE(breaks(*told_, Hook::kTrainingStep, "training_step"));
  EXPECT_FALSE(breaks(*record_, Hook::kTrainingStep, "training_step"));
}

TEST_F(PlaceChecks, NoticeThatEverybodyIsToldAWrongOne) {
  EXPECT_TRUE(breaks(*told_, Hook::kBackward, "training_step"));
  EXPECT_FALSE(breaks(*record_, Hook::kBackward, "training_step"));
}

TEST_F(PlaceChecks, NoticeThatTheRecordNamesAWrongOne) {
  EXPECT_FALSE(breaks(*told_, Hook::kTrainingStep, "backward"));
  EXPECT_TRUE(breaks(*record_, Hook::kTrainingStep, "backward"));
}

}  // namespace
}  // namespace mishap
