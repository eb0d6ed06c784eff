#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/trainer/guard/guarded_call.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace mishap {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Outcome = CleanupNote::Outcome;

constexpr milliseconds kLimit{20};

std::string told(const CleanupNote& note) {
  constexpr std::array<const char*, 4> kWords = {"ran", "failed", "skipped",
                                                 "timed_out"};
  std::string text(note.step);
  text += ' ';
  text += note.component.name();
  text += ' ';
  text += kWords[static_cast<std::size_t>(note.outcome)];
  return text;
}

std::size_t threads() {
  return static_cast<std::size_t>(std::distance(
      std::filesystem::directory_iterator("/proc/self/task"), {}));
}

// Keeps the notes of a run and, at its end, whether it failed.
struct Notes final : Observer {
  void on_close(mishap::Run& run, const Failure* failure) noexcept override {
    failed = failure != nullptr;
    for (const CleanupNote& note : run.cleanup()) {
      all.push_back(told(note));
      first_errors += note.threw_first_error ? 1 : 0;
    }
  }
  std::vector<std::string> all;
  int first_errors = 0;
  bool failed = false;
};

class BoundedCleanup : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.cleanup_limit = kLimit;
    options_.observers = {&notes_};
    options_.on_overtime = [this](const Overtime& overtime) {
      late_.push_back(told(overtime.piece));
      EXPECT_EQ(overtime.entry_point, "fit");
      EXPECT_GT(overtime.piece.micros, 20'000);
      EXPECT_EQ(overtime.limit, kLimit);
      was_told_ = true;
    };
  }

  void wait_until_told() const {
    while (!was_told_) {
      std::this_thread::sleep_for(milliseconds(1));
    }
  }

  Notes notes_;
  GuardOptions options_;
  std::vector<std::string> late_;
  std::atomic<bool> was_told_{false};
};

TEST_F(BoundedCleanup, TellsOfALatePieceWhileItRunsAndNotesIt) {
  EXPECT_THROW(guarded_call("fit", options_,
                            [&](mishap::Run& run) {
                              run.on_teardown("quick", [] {});
                              // Would wait for ever if it were told at the end.
                              run.on_teardown("late",
                                              [&] { wait_until_told(); });
                              throw std::runtime_error("x");
                            }),
               std::runtime_error);
  EXPECT_THAT(late_, ElementsAre("teardown late timed_out"));
  EXPECT_THAT(notes_.all,
              ElementsAre("teardown late timed_out", "teardown quick ran",
                          "restore_process_state  ran"));
}

TEST_F(BoundedCleanup, WatchesTheCleanupOfAGoodRunToo) {
  guarded_call("fit", options_, [&](mishap::Run& run) {
    run.owe(DutyKind::kRelease, Component(),
            [&](mishap::Run&) { wait_until_told(); });
  });
  EXPECT_FALSE(notes_.failed);
  EXPECT_THAT(late_, ElementsAre("release  timed_out"));
}

TEST_F(BoundedCleanup, WatchesWhatIsTold) {
  EXPECT_THROW(guarded_call("fit", options_,
                            [&](mishap::Run& run) {
                              run.on_exception("spy", [&](const ErrorEvent&) {
                                wait_until_told();
                              });
                              throw std::runtime_error("x");
                            }),
               std::runtime_error);
  EXPECT_THAT(late_, ElementsAre("tell spy timed_out"));
}

TEST_F(BoundedCleanup, TellsOfEachLatePieceOnce) {
  guarded_call("fit", options_, [&](mishap::Run& run) {
    for (const char* name : {"a", "b", "c"}) {
      run.on_teardown(name, [this, name] {
        if (*name != 'b') {
          was_told_ = false;
          wait_until_told();
          std::this_thread::sleep_for(3 * kLimit);
        }
      });
    }
  });
  EXPECT_THAT(late_,
              ElementsAre("teardown c timed_out", "teardown a timed_out"));
}

TEST_F(BoundedCleanup, TellsOfTheInnermostOfNestedPieces) {
  guarded_call("fit", options_, [&](mishap::Run& run) {
    run.owe(DutyKind::kTeardown, Component(), [&](mishap::Run& ended) {
      ended.isolate("teardown", Component::named("inner"), Hook::kTeardown,
                    [&] {
                      wait_until_told();
                      std::this_thread::sleep_for(2 * kLimit);
                    });
    });
  });
  EXPECT_THAT(late_, ElementsAre("teardown inner timed_out"));
}

TEST_F(BoundedCleanup, TellsOfAPieceThatIsLateInManyQuickOnes) {
  guarded_call("fit", options_, [&](mishap::Run& run) {
    run.owe(DutyKind::kRelease, Component(), [&](mishap::Run& ended) {
      while (!was_told_) {
        ended.isolate("release", Component::named("inner"), Hook::kNone,
                      [] { std::this_thread::sleep_for(milliseconds(1)); });
      }
    });
  });
  EXPECT_THAT(late_, ElementsAre("release  timed_out"));
}

TEST_F(BoundedCleanup, TellsOfNothingWithinTheLimit) {
  options_.cleanup_limit = std::chrono::seconds(10);
  EXPECT_THROW(guarded_call("fit", options_,
                            [](mishap::Run& run) {
                              run.on_teardown("a", [] {
                                std::this_thread::sleep_for(2 * kLimit);
                              });
                              throw std::runtime_error("x");
                            }),
               std::runtime_error);
  EXPECT_THAT(late_, IsEmpty());
  EXPECT_THAT(notes_.all,
              ElementsAre("teardown a ran", "restore_process_state  ran"));
}

TEST_F(BoundedCleanup, WithoutALimitHasNoWatchingThread) {
  for (const milliseconds limit : {milliseconds(0), milliseconds::max()}) {
    options_.cleanup_limit = limit;
    std::size_t during = 0;
    guarded_call("fit", options_, [&](mishap::Run& run) {
      run.on_teardown("a", [&] { during = threads(); });
    });
    EXPECT_EQ(during, threads());
  }
}

TEST_F(BoundedCleanup, LeavesNoThread) {
  // A sanitizer starts a thread of its own with the first one.
  guarded_call("fit", options_,
               [](mishap::Run& run) { run.on_teardown("a", [] {}); });
  const std::size_t before = threads();
  std::size_t during = 0;
  guarded_call("fit", options_, [&](mishap::Run& run) {
    run.on_teardown("a", [&] { during = threads(); });
  });
  EXPECT_EQ(during, before + 1);
  // What was joined may be listed for a moment more.
  for (int i = 0; i < 50 && threads() != before; ++i) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(threads(), before);
}

TEST_F(BoundedCleanup, NotesWhatWasDoneBeforeALateFailure) {
  EXPECT_THROW(guarded_call("fit", options_,
                            [](mishap::Run& run) {
                              run.on_teardown("a", [] {});
                              run.on_teardown("b", [] { throw 1; });
                              run.on_teardown("c", [] {});
                            }),
               int);
  EXPECT_THAT(notes_.all,
              ElementsAre("teardown c ran", "teardown b failed",
                          "teardown a ran", "restore_process_state  ran"));
  EXPECT_EQ(notes_.first_errors, 1);
}

TEST_F(BoundedCleanup, KnowsWhatIsStillOwedInTheMiddle) {
  std::vector<std::string> seen;
  EXPECT_THROW(guarded_call("fit", options_,
                            [&](mishap::Run& run) {
                              run.owe(DutyKind::kFinalize,
                                      Component::named("logger"),
                                      [](mishap::Run&) {});
                              run.on_teardown("a", [] {});
                              run.on_teardown("b", [&] {
                                std::thread([&] {
                                  for (const CleanupNote& note :
                                       run.unfinished_cleanup().notes) {
                                    seen.push_back(told(note));
                                  }
                                }).join();
                              });
                              run.on_exception("spy", [](const ErrorEvent&) {});
                              throw std::runtime_error("x");
                            }),
               std::runtime_error);
  EXPECT_THAT(seen, ElementsAre("tell spy ran", "teardown b failed",
                                "teardown a skipped", "finalize logger skipped",
                                "restore_process_state  skipped"));
}

TEST_F(BoundedCleanup, GoesOnInAForkedChild) {
  const pid_t self = getpid();
  pid_t child = 0;
  guarded_call("fit", options_, [&](mishap::Run& run) {
    run.on_teardown("last", [] {});
    run.on_teardown("forks", [&] { child = fork(); });
  });
  if (getpid() != self) {
    // Reached by a child that waits neither for a thread nor for a lock.
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(WarnOfOvertime, IsOneLineWithStepComponentAndTime) {
  Overtime overtime;
  overtime.entry_point = "fit";
  overtime.piece.step = "teardown";
  overtime.piece.component = Component::named("callback.Slow");
  overtime.piece.micros = 31'500'000;
  overtime.limit = std::chrono::seconds(30);
  ::testing::internal::CaptureStderr();
  warn_of_overtime(overtime);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "mishap: fit: cleanup step teardown of callback.Slow has run for "
            "31.5 s, longer than its limit of 30 s; it cannot be cancelled, "
            "the wait goes on\n");
}

}  // namespace
}  // namespace mishap
