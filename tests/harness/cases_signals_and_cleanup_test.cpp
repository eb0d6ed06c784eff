#include <mishap/collector/recover_pending.h>
#include <mishap/collector/sink.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <utility>

#include "child_program.h"
#include "guard_cases.h"

namespace mishap {
namespace {

using nlohmann::json;
using testing::cleanup_of;
using ::testing::ElementsAre;
using ::testing::ExitedWithCode;
using ::testing::KilledBySignal;

using CasesOfSignals = GuardCases;
using CasesOfSignalsDeathTest = GuardCases;
using CasesOfCleanup = GuardCases;

void ignored_by_us(int) {}

struct SignalSetting {
  struct sigaction interrupt {};
  struct sigaction terminate {};
  sigset_t mask{};

  static SignalSetting now() {
    SignalSetting found;
    sigaction(SIGINT, nullptr, &found.interrupt);
    sigaction(SIGTERM, nullptr, &found.terminate);
    pthread_sigmask(SIG_SETMASK, nullptr, &found.mask);
    return found;
  }
};

void expect_same(const SignalSetting& before, const SignalSetting& after) {
  for (const auto& [one, other] :
       {std::pair(before.interrupt, after.interrupt),
        std::pair(before.terminate, after.terminate)}) {
    EXPECT_EQ(one.sa_handler, other.sa_handler);
    EXPECT_EQ(one.sa_flags, other.sa_flags);
    EXPECT_EQ(sigismember(&one.sa_mask, SIGUSR1),
              sigismember(&other.sa_mask, SIGUSR1));
  }
  EXPECT_EQ(sigismember(&before.mask, SIGUSR2),
            sigismember(&after.mask, SIGUSR2));
}

// E6, T27, T32
TEST_F(CasesOfSignals, ActionsFlagsAndMaskComeBackAfterFailedAndNestedRuns) {
  struct sigaction own {};
  own.sa_handler = ignored_by_us;
  own.sa_flags = SA_RESTART | SA_NODEFER;
  sigemptyset(&own.sa_mask);
  sigaddset(&own.sa_mask, SIGUSR1);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction fallback {};
  fallback.sa_handler = SIG_DFL;
  for (const struct sigaction& before : {own, ignore, fallback}) {
    sigaction(SIGINT, &before, nullptr);
    sigaction(SIGTERM, &before, nullptr);
    const SignalSetting setting = SignalSetting::now();
    EXPECT_THROW(guard(
                     "fit",
                     [&](mishap::Run&) {
                       guard(
                           "validate", [](mishap::Run&) {}, options_);
                       guard(
                           "test", [](mishap::Run&) { throw 1; }, options_);
                     },
                     options_),
                 int);
    expect_same(setting, SignalSetting::now());
  }
}

// E9
TEST_F(CasesOfSignals, InjectedInterruptIsHonouredAtTheNextHookOnly) {
  bool went_on = false;
  const auto armed = arm("hook/step/loop=2*off->1*interrupt(SIGTERM)");
  json record = record_of<Interrupted>([&](mishap::Run& run) {
    for (std::int64_t step = 0; step < 5; ++step) {
      run.step(step);
      went_on = step > 2;
    }
  });
  EXPECT_FALSE(went_on);
  EXPECT_EQ(record["interrupt"]["signal"], "SIGTERM");
  EXPECT_EQ(record["hook"], "step");
  EXPECT_EQ(record["global_step"], 2);
}

// E10
TEST_F(CasesOfSignals, RecordOfAnInterruptTellsThePlaceThatTheSignalFound) {
  json record = record_of<Interrupted>([](mishap::Run& run) {
    run.epoch(1);
    run.step(8);
    std::raise(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    run.step(9);
  });
  json& interrupt = record["interrupt"];
  EXPECT_EQ(interrupt["at"]["epoch"], 1);
  EXPECT_EQ(interrupt["at"]["global_step"], 8);
  EXPECT_EQ(interrupt["honoured"]["global_step"], 9);
  EXPECT_GE(interrupt["delay_micros"].get<std::int64_t>(), 20'000);
  EXPECT_EQ(record["exceptions"][0]["stack"]["origin"], "throw");
}

// E1, H21, H31, T26
TEST_F(CasesOfSignalsDeathTest, InterruptedProgramEndsWith128AndTheSignal) {
  for (const int number : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(std::_Exit(guarded_main(0, nullptr,
                                        [&] {
                                          guard(
                                              "fit",
                                              [&](mishap::Run& run) {
                                                std::raise(number);
                                                run.step(0);
                                              },
                                              options_);
                                        })),
                ExitedWithCode(128 + number), "");
  }
}

// E4
TEST_F(CasesOfSignalsDeathTest, SecondCtrlCInCleanupLeavesTheFirstRecord) {
  EXPECT_EXIT(
      guard(
          "fit",
          [](mishap::Run& run) {
            run.on_teardown("model", [] {
              std::this_thread::sleep_for(std::chrono::milliseconds(1100));
              std::raise(SIGINT);
            });
            std::raise(SIGINT);
            run.step(7);
          },
          options_),
      KilledBySignal(SIGINT), "");
  collector::RecordSink sink({.folder = folder_.path()});
  EXPECT_EQ(collector::recover_pending(sink).appended, 1U);
  ASSERT_EQ(records().size(), 1U);
  json record = records().front();
  EXPECT_EQ(record["kind"], "interrupt");
  EXPECT_EQ(record["interrupt"]["signal"], "SIGINT");
  EXPECT_EQ(record["hook"], "step");
  EXPECT_EQ(record["global_step"], 7);
}

// E7
TEST_F(CasesOfSignalsDeathTest, HandlerInstalledUnderGuardedMainIsChainedTo) {
  EXPECT_EXIT(std::_Exit(guarded_main(0, nullptr,
                                      [&] {
                                        std::signal(SIGINT, ignored_by_us);
                                        guard(
                                            "fit",
                                            [&](mishap::Run& run) {
                                              std::raise(SIGINT);
                                              run.step(0);
                                            },
                                            options_);
                                      })),
              ExitedWithCode(130), "");
}

// E5, G17
TEST_F(CasesOfSignalsDeathTest, ForkedChildOfARunDiesOfItsSignal) {
  EXPECT_EXIT(
      {
        int status = 0;
        guard(
            "fit",
            [&](mishap::Run& run) {
              const pid_t child = fork();
              if (child == 0) {
                std::raise(SIGTERM);
                _exit(0);
              }
              waitpid(child, &status, 0);
              run.step(0);
            },
            options_);
        _exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? 7 : 1);
      },
      ExitedWithCode(7), "");
}

// F2, H3
TEST_F(CasesOfCleanup, ErrorsOfTheCleanupStandBesideTheFirstOne) {
  std::vector<std::string> order;
  json record = record_of<std::out_of_range>([&](mishap::Run& run) {
    run.on_teardown("data", [&] { order.push_back("data"); });
    run.on_teardown("model", [&]() -> void {
      order.push_back("model");
      throw std::logic_error("second");
    });
    run.on_exception("saver", [&](const ErrorEvent&) {
      order.push_back("saver");
      throw 3;
    });
    throw std::out_of_range("first");
  });
  EXPECT_THAT(order, ElementsAre("saver", "model", "data"));
  EXPECT_EQ(record["exceptions"][0]["type"], "std::out_of_range");
  ASSERT_EQ(record["suppressed"].size(), 2U);
  EXPECT_EQ(record["suppressed"][0]["step"], "tell");
  EXPECT_EQ(record["suppressed"][0]["component"], "saver");
  EXPECT_EQ(record["suppressed"][0]["type"], "int");
  EXPECT_EQ(record["suppressed"][1]["step"], "teardown");
  EXPECT_EQ(record["suppressed"][1]["component"], "model");
  EXPECT_EQ(record["suppressed"][1]["message"], "second");
  EXPECT_THAT(cleanup_of(record),
              ElementsAre("tell saver failed", "teardown model failed",
                          "teardown data ran", "restore_process_state - ran"));
}

// F3: what lasts beyond the limit is recorded so, and the rest still runs.
TEST_F(CasesOfCleanup, StepBeyondItsLimitIsRecordedAsTimedOut) {
  options_.guard.cleanup_limit = std::chrono::milliseconds(10);
  options_.guard.on_overtime = nullptr;
  json record = record_of<std::runtime_error>([](mishap::Run& run) {
    run.on_teardown("quick", [] {});
    run.on_teardown("slow", [] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    });
    throw std::runtime_error("first");
  });
  EXPECT_THAT(cleanup_of(record),
              ElementsAre("teardown slow timed_out", "teardown quick ran",
                          "restore_process_state - ran"));
  EXPECT_GE(record["cleanup"][0]["micros"].get<std::int64_t>(), 30'000);
}

// F10
TEST_F(CasesOfCleanup, FailureThatLeavesATestDisarmsItsFaults) {
  try {
    const auto armed = arm("hook/step/loop=throw(runtime)");
    guard(
        "fit", [](mishap::Run& run) { run.step(0); }, options_);
    ADD_FAILURE() << "the fault did not strike";
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(faultinject::armed_count(), 0U);
  EXPECT_EQ(records().size(), 1U);
  guard(
      "fit", [](mishap::Run& run) { run.step(0); }, options_);
}

// F11, I3
TEST_F(CasesOfCleanup, HugeMessageKeepsItsLengthInTheRecord) {
  constexpr std::size_t kSize = 100'000;
  json record = record_of<std::runtime_error>(
      [](mishap::Run&) { throw std::runtime_error(std::string(kSize, 'm')); });
  EXPECT_EQ(record["exceptions"][0]["message_size"], kSize);
  EXPECT_LT(record["exceptions"][0]["message"].get<std::string>().size(),
            kSize);
  EXPECT_FALSE(record["exceptions"][0]["message_hash"].is_null());
}

}  // namespace
}  // namespace mishap
