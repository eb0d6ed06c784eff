#include <mishap/collector/recover_pending.h>
#include <mishap/collector/sink.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "guard_cases.h"

namespace mishap {
namespace {

using nlohmann::json;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;

using CasesOfCapture = GuardCases;
using CasesOfCaptureDeathTest = GuardCases;

struct RefusesToEnter final : Observer {
  void on_enter(mishap::Run&) override { throw InputError("no such device"); }
};

// C2, C3: an observer behind the capture keeps the run from opening.
TEST_F(CasesOfCapture, ObserverThatThrowsAtEntryLeavesOneRecord) {
  RefusesToEnter refuses;
  options_.guard.observers.push_back(&refuses);
  int told = 0;
  json record = record_of<InputError>([&](mishap::Run& run) {
    run.on_exception("model", [&](const ErrorEvent&) { ++told; });
    run.set_stage(Stage::kSetup);
    run.step(0);
    ADD_FAILURE() << "the run was opened";
  });
  EXPECT_EQ(told, 1);
  EXPECT_EQ(record["kind"], "error");
  EXPECT_EQ(record["exceptions"][0]["type"], "mishap::InputError");
  EXPECT_EQ(record["stage"], "configure");
  EXPECT_TRUE(record["hook"].is_null());
  EXPECT_TRUE(record["breadcrumbs"].empty());
  EXPECT_EQ(record["cleanup"][0]["component"], "model");
}

// C2: the error of the body stands inside the one record.
TEST_F(CasesOfCapture, ErrorOfTheBodyStandsBesideTheOneAtEntry) {
  RefusesToEnter refuses;
  options_.guard.observers.push_back(&refuses);
  json record = record_of<InputError>(
      [](mishap::Run&) { throw std::out_of_range("of the body"); });
  ASSERT_EQ(record["suppressed"].size(), 1U);
  EXPECT_TRUE(record["suppressed"][0]["step"].is_null());
  EXPECT_EQ(record["suppressed"][0]["type"], "std::out_of_range");
}

// An exception without a text has none, wherever it stands.
TEST_F(CasesOfCapture, NumberThatIsThrownHasNoMessage) {
  json record = record_of<int>([](mishap::Run& run) {
    run.on_teardown("model", [] { throw 43; });
    throw 42;
  });
  EXPECT_EQ(record["exceptions"][0]["type"], "int");
  EXPECT_TRUE(record["exceptions"][0]["message"].is_null());
  EXPECT_EQ(record["exceptions"][0]["message_size"], 0);
  EXPECT_EQ(record["suppressed"][0]["type"], "int");
  EXPECT_TRUE(record["suppressed"][0]["message"].is_null());
  EXPECT_EQ(record["cleanup"][0]["error"], "int");
}

TEST_F(CasesOfCapture, NumberThatIsThrownIsReportedWithoutAMessage) {
  options_.capture.report_on_stderr = true;
  ::testing::internal::CaptureStderr();
  record_of<int>([](mishap::Run&) { throw 42; });
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("mishap: fit failed: int\n"));
}

// I3: of a message that was cut the record knows length and hash of the whole.
TEST_F(CasesOfCapture, MessagesThatDifferBehindTheCutDifferInTheirHash) {
  std::vector<std::string> hashes;
  for (const char end : {'a', 'b'}) {
    EXPECT_THROW(
        guard(
            "fit",
            [&](mishap::Run&) {
              throw std::runtime_error(std::string(100'000, 'm') + end);
            },
            options_),
        std::runtime_error);
    json exception = records().back()["exceptions"][0];
    EXPECT_EQ(exception["message_size"], 100'001);
    hashes.push_back(exception["message_hash"]);
  }
  EXPECT_NE(hashes[0], hashes[1]);
}

// A process that dies in a hook, behind another one that ran in it.
TEST_F(CasesOfCaptureDeathTest, PendingRecordNamesTheHookThatWentOn) {
  for (const bool throws : {false, true}) {
    EXPECT_EXIT(guard(
                    "fit",
                    [&](mishap::Run& run) {
                      const Component module = Component::named("module");
                      run.call(Hook::kOptimizerStep, module, [&] {
                        try {
                          run.call(Hook::kTrainingStep, module, [&] {
                            if (throws) {
                              throw std::runtime_error("handled");
                            }
                          });
                        } catch (const std::runtime_error&) {
                        }
                        std::raise(SIGKILL);
                      });
                    },
                    options_),
                KilledBySignal(SIGKILL), "");
    collector::RecordSink sink({.folder = folder_.path()});
    EXPECT_EQ(collector::recover_pending(sink).appended, 1U);
    json record = records().back();
    EXPECT_EQ(record["kind"], "killed");
    EXPECT_EQ(record["hook"], "optimizer_step");
    EXPECT_EQ(record["component"], "module");
  }
}

// Takes what is left but for pieces that are too small to be a record's room.
void leave_small_blocks() {
  constexpr std::size_t kPieces = 200;
  constexpr std::size_t kPieceBytes = 32'000;
  std::array<void*, kPieces> pieces{};
  for (void*& piece : pieces) {
    piece = std::malloc(kPieceBytes);
  }
  for (std::size_t i = 0; i < kPieces; i += 2) {
    std::free(pieces[i]);
  }
  const rlimit none{0, 0};
  setrlimit(RLIMIT_AS, &none);
  for (std::size_t size = std::size_t{1} << 30U; size > 100'000; size /= 2) {
    void* volatile block = nullptr;
    do {
      block = std::malloc(size);
    } while (block != nullptr);
  }
}

// Capture never replaces what happens: it says that there is no room for it.
TEST_F(CasesOfCaptureDeathTest, RunGoesOnWithoutRoomForItsRecord) {
  if (MISHAP_CASES_OWN_MEMORY == 0) {
    GTEST_SKIP() << "sanitizers do not live with a limit on memory";
  }
  EXPECT_EXIT(
      {
        // What the first run of a process takes for good.
        guard(
            "fit", [](mishap::Run& run) { run.step(0); }, options_);
        // A thread of its own, which no earlier run left any room.
        std::thread([&] {
          leave_small_blocks();
          int steps = 0;
          try {
            guard(
                "fit",
                [&](mishap::Run& run) {
                  run.step(steps++);
                  throw 42;
                },
                options_);
          } catch (int) {
            _exit(steps == 1 ? 7 : 1);
          }
        }).join();
      },
      ExitedWithCode(7), "a failure of fit will leave no record");
  EXPECT_TRUE(records().empty());
}

}  // namespace
}  // namespace mishap
