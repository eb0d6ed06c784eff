#include <gtest/gtest.h>
#include <mishap/trainer/guard/guarded_call.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

namespace mishap {
namespace {

int calls_of_own_handler = 0;
void own_handler(int) { ++calls_of_own_handler; }

class Signals : public ::testing::Test {
 protected:
  void SetUp() override {
    calls_of_own_handler = 0;
    std::signal(SIGINT, own_handler);
    std::signal(SIGTERM, own_handler);
  }
  void TearDown() override {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
  }

  static Component loop() { return Component::named("loop"); }
};

TEST_F(Signals, AreHonouredAtTheNextSafePoint) {
  bool went_on = false;
  try {
    guarded_call("fit", {}, [&](mishap::Run& run) {
      run.step(0);
      std::raise(SIGTERM);
      run.step(1);
      went_on = true;
    });
    FAIL() << "the signal was swallowed";
  } catch (const Interrupted& interrupted) {
    EXPECT_EQ(interrupted.signal(), SIGTERM);
  }
  EXPECT_FALSE(went_on);
}

TEST_F(Signals, ReachAnEarlierHandlerToo) {
  EXPECT_THROW(guarded_call("fit", {},
                            [](mishap::Run& run) {
                              std::raise(SIGINT);
                              run.step(0);
                            }),
               Interrupted);
  EXPECT_EQ(calls_of_own_handler, 1);
}

TEST_F(Signals, OfTheFirstSecondAreOneRequest) {
  EXPECT_THROW(guarded_call("fit", {},
                            [](mishap::Run& run) {
                              std::raise(SIGINT);
                              std::raise(SIGINT);
                              run.step(0);
                            }),
               Interrupted);
}

TEST_F(Signals, AfterAnErrorLeaveTheErrorTheOutcome) {
  bool noted = false;
  struct Watch final : Observer {
    explicit Watch(bool& seen) : seen_(seen) {}
    void on_close(mishap::Run& run, const Failure*) noexcept override {
      seen_ = run.interrupt().has_value();
    }
    bool& seen_;
  } watch(noted);
  GuardOptions options;
  options.observers = {&watch};
  EXPECT_THROW(guarded_call("fit", options,
                            [](mishap::Run& run) {
                              run.on_teardown("a", [] { std::raise(SIGTERM); });
                              throw std::out_of_range("first");
                            }),
               std::out_of_range);
  EXPECT_TRUE(noted);
}

TEST_F(Signals, NeverReplaceWhatIsOwedToAComponent) {
  std::vector<std::string> torn_down;
  EXPECT_THROW(guarded_call("fit", {},
                            [&](mishap::Run& run) {
                              for (const char* part : {"data", "model"}) {
                                run.on_teardown(part, [&torn_down, part] {
                                  torn_down.push_back(part);
                                });
                              }
                              std::raise(SIGTERM);
                            }),
               Interrupted);
  EXPECT_EQ(torn_down, (std::vector<std::string>{"model", "data"}));
}

TEST_F(Signals, AfterARunReachTheProgramThoughOurHandlerWasPutBack) {
  struct sigaction ours {};
  guarded_call("fit", {},
               [&](mishap::Run&) { sigaction(SIGINT, nullptr, &ours); });
  sigaction(SIGINT, &ours, nullptr);
  std::raise(SIGINT);
  EXPECT_EQ(calls_of_own_handler, 1);
}

TEST_F(Signals, ReachTheProgramOnceThoughOursLiesUnderAndOverItsHandler) {
  struct sigaction ours {};
  guarded_call("fit", {},
               [&](mishap::Run&) { sigaction(SIGINT, nullptr, &ours); });
  sigaction(SIGINT, &ours, nullptr);
  EXPECT_THROW(guarded_call("fit", {},
                            [](mishap::Run& run) {
                              std::raise(SIGINT);
                              run.step(0);
                            }),
               Interrupted);
  EXPECT_EQ(calls_of_own_handler, 1);
  std::raise(SIGINT);
  EXPECT_EQ(calls_of_own_handler, 2);
}

struct sigaction chained {};
void chaining_handler(int signal, siginfo_t* info, void* context) {
  ++calls_of_own_handler;
  chained.sa_sigaction(signal, info, context);
}

void install_chaining_handler() {
  struct sigaction mine {};
  mine.sa_sigaction = chaining_handler;
  mine.sa_flags = SA_SIGINFO;
  sigaction(SIGINT, &mine, &chained);
}

TEST_F(Signals, AreHonouredUnderAHandlerThatChainsToOurs) {
  guarded_call("fit", {}, [](mishap::Run&) { install_chaining_handler(); });
  EXPECT_THROW(guarded_call("test", {},
                            [](mishap::Run& run) {
                              std::raise(SIGINT);
                              run.step(0);
                            }),
               Interrupted);
  EXPECT_EQ(calls_of_own_handler, 1);
}

TEST_F(Signals, LateInARunReachTheProgramOnce) {
  const auto late = [](mishap::Run&) { std::raise(SIGINT); };
  StepList steps = standard_steps();
  const auto last = std::find_if(
      steps.begin(), steps.end(),
      [](const GuardStep& step) { return step.name == "leave_signals"; });
  steps.insert(last, {"late", GuardStep::On::kBoth, late});
  GuardOptions options;
  options.steps = &steps;
  guarded_call("fit", options, [](mishap::Run&) {});
  EXPECT_EQ(calls_of_own_handler, 1);
}

TEST_F(Signals, LeaveTheActionsAsTheyWere) {
  guarded_call("fit", {}, [](mishap::Run& run) { run.step(0); });
  struct sigaction now {};
  sigaction(SIGINT, nullptr, &now);
  EXPECT_EQ(now.sa_handler, own_handler);
}

TEST_F(Signals, ThatWereIgnoredStayIgnored) {
  std::signal(SIGINT, SIG_IGN);
  int steps = 0;
  guarded_call("fit", {}, [&](mishap::Run& run) {
    std::raise(SIGINT);
    run.step(0);
    ++steps;
  });
  EXPECT_EQ(steps, 1);
}

TEST_F(Signals, ReachEveryRunOnEveryThread) {
  std::atomic<int> entered{0};
  std::atomic<bool> sent{false};
  std::atomic<int> interrupted{0};
  const auto run_one = [&] {
    try {
      guarded_call("fit", {}, [&](mishap::Run& run) {
        ++entered;
        while (true) {
          const bool late = sent;
          run.step(0);
          if (late) {
            return;
          }
        }
      });
    } catch (const Interrupted&) {
      ++interrupted;
    }
  };
  std::thread first(run_one);
  std::thread second(run_one);
  while (entered < 2) {
    std::this_thread::yield();
  }
  kill(getpid(), SIGINT);
  while (calls_of_own_handler == 0) {
    std::this_thread::yield();
  }
  sent = true;
  first.join();
  second.join();
  EXPECT_EQ(interrupted, 2);
}

TEST_F(Signals, OfOverlappingRunsRestoreWhatTheFirstOneFound) {
  std::atomic<int> phase{0};
  std::thread first([&] {
    guarded_call("fit", {}, [&](mishap::Run&) {
      phase = 1;
      while (phase < 2) std::this_thread::yield();
    });
    phase = 3;
  });
  while (phase < 1) std::this_thread::yield();
  guarded_call("fit", {}, [&](mishap::Run&) {
    phase = 2;
    while (phase < 3) std::this_thread::yield();
  });
  first.join();
  struct sigaction now {};
  sigaction(SIGTERM, nullptr, &now);
  EXPECT_EQ(now.sa_handler, own_handler);
}

TEST_F(Signals, InANestedRunInterruptTheOuterOneToo) {
  bool inner = false;
  bool outer = false;
  try {
    guarded_call("fit", {}, [&](mishap::Run& run) {
      try {
        guarded_call("validate", {}, [](mishap::Run& nested) {
          std::raise(SIGINT);
          nested.step(0);
        });
      } catch (const Interrupted&) {
        inner = true;
      }
      run.step(1);
    });
  } catch (const Interrupted&) {
    outer = true;
  }
  EXPECT_TRUE(inner);
  EXPECT_TRUE(outer);
}

TEST_F(Signals, CountForTheRunInWhichTheyCame) {
  EXPECT_THROW(guarded_call("fit", {},
                            [](mishap::Run& run) {
                              std::raise(SIGINT);
                              run.step(0);
                            }),
               Interrupted);
  int steps = 0;
  guarded_call("fit", {}, [&](mishap::Run& run) {
    run.step(0);
    ++steps;
  });
  EXPECT_EQ(steps, 1);
}

TEST_F(Signals, AreLeftToTheEmbedderWhenHandlingIsOff) {
  GuardOptions options;
  options.handle_signals = false;
  int steps = 0;
  guarded_call("fit", options, [&](mishap::Run& run) {
    std::raise(SIGINT);
    run.step(0);
    ++steps;
  });
  EXPECT_EQ(steps, 1);
  EXPECT_EQ(calls_of_own_handler, 1);
}

TEST_F(Signals, NoneOfThousandsOnAFastLoopIsSwallowed) {
  // The program's handler hears of each one; a run that it came in is
  // interrupted too.
  constexpr int kSignals = 3000;
  int honoured = 0;
  for (int i = 0; i < kSignals; ++i) {
    calls_of_own_handler = 0;
    std::thread sender;
    bool interrupted = false;
    bool raised_inside = false;
    try {
      guarded_call("fit", {}, [&](mishap::Run& run) {
        run.step(0);
        if (i % 3 == 0) {
          std::raise(SIGINT);
          raised_inside = true;
        }
        run.step(1);
        if (i % 3 == 1) {
          run.on_teardown("late", [] { std::raise(SIGINT); });
          raised_inside = true;
        }
      });
      if (i % 3 == 2) {
        std::raise(SIGINT);
      }
    } catch (const Interrupted&) {
      interrupted = true;
      ++honoured;
    }
    ASSERT_EQ(interrupted, raised_inside || i % 3 == 0) << i;
    ASSERT_EQ(calls_of_own_handler, 1) << i;
  }
  EXPECT_EQ(honoured, 2 * kSignals / 3);
}

using SignalsDeathTest = Signals;

TEST_F(SignalsDeathTest, AfterRunsEndAProgramWhoseHandlerChainsToOurs) {
  EXPECT_EXIT(
      {
        guarded_call("fit", {},
                     [](mishap::Run&) { install_chaining_handler(); });
        guarded_call("test", {}, [](mishap::Run&) {});
        std::raise(SIGINT);
        std::exit(0);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

TEST_F(SignalsDeathTest, LateInARunEndAProgramWithoutAHandler) {
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_DFL);
        StepList steps = standard_steps();
        steps.insert(steps.end() - 2,
                     {"late", GuardStep::On::kBoth,
                      [](mishap::Run&) { std::raise(SIGINT); }});
        GuardOptions options;
        options.steps = &steps;
        guarded_call("fit", options, [](mishap::Run&) {});
        std::exit(0);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

TEST_F(SignalsDeathTest, AfterARunEndAProgramWithoutAHandler) {
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_DFL);
        struct sigaction ours {};
        guarded_call("fit", {},
                     [&](mishap::Run&) { sigaction(SIGINT, nullptr, &ours); });
        sigaction(SIGINT, &ours, nullptr);
        std::raise(SIGINT);
        std::exit(0);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

TEST_F(SignalsDeathTest, TheSecondOneEndsTheProcessAtOnce) {
  EXPECT_EXIT(guarded_call("fit", {},
                           [](mishap::Run&) {
                             std::signal(SIGTERM, SIG_DFL);
                             std::raise(SIGINT);
                             std::this_thread::sleep_for(
                                 std::chrono::milliseconds(1100));
                             std::raise(SIGINT);
                             std::exit(0);
                           }),
              ::testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace mishap
