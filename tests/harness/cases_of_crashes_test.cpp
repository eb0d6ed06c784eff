#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/trainer/guard/worker_thread.h>
#include <mishap/trainer/harness/capture/reproduce.h>
#include <mishap/trainer/harness/guard.h>
#include <signal.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include "child_program.h"

namespace mishap {
namespace {

using nlohmann::json;
using testing::ChildProgram;
using testing::Ended;
using ::testing::HasSubstr;
using ::testing::StartsWith;

void fault() {
  volatile int* nowhere = nullptr;
  asm volatile("" : "+r"(nowhere));
  *nowhere = 1;
}

// The test's own crash handlers are not the program's.
void forget_handlers() {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) {
    std::signal(signal, SIG_DFL);
  }
}

Ended crash_in_fit(const std::function<void(Run&)>& body) {
  return ChildProgram().run([&] {
    forget_handlers();
    try {
      guard("fit", body);
    } catch (const std::exception&) {
      return 1;
    }
    return 0;
  });
}

int lines_in(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

// G16, cpptrace#73
TEST(CasesOfCrashes, RecordRowAndReportOfAFault) {
  set_reproduce_command("train --epochs 3", FaultsGo::kBefore);
  const Ended ended = crash_in_fit([](mishap::Run& run) {
    run.step(7);
    fault();
  });
  set_reproduce_command("", FaultsGo::kBefore);
  EXPECT_EQ(ended.status, 128 + SIGSEGV);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& record = ended.records.front();
  EXPECT_EQ(record["kind"], "crash");
  EXPECT_EQ(record["entry_point"], "fit");
  EXPECT_EQ(record["global_step"], 7);
  EXPECT_EQ(record["process_phase"], "running");
  EXPECT_EQ(record["thread"]["role"], "main");
  EXPECT_EQ(record["signal"]["name"], "SIGSEGV");
  EXPECT_EQ(record["signal"]["code_name"], "SEGV_MAPERR");
  EXPECT_EQ(record["signal"]["address"], "0x0");
  EXPECT_EQ(record["exit"]["signal"], SIGSEGV);
  EXPECT_EQ(record["exceptions"][0]["type"], "SIGSEGV");
  EXPECT_EQ(record["exceptions"][0]["stack"]["origin"], "signal");
  EXPECT_FALSE(record["registers"].empty());
  EXPECT_EQ(record["reproduce"], "train --epochs 3");
  EXPECT_FALSE(record["breadcrumbs"].empty());
  ASSERT_EQ(ended.rows.size(), 1U);
  EXPECT_EQ(ended.rows.front()["outcome"], "crashed");
  EXPECT_EQ(ended.rows.front()["run_id"], record["run_id"]);
  const json& frame = record["exceptions"][0]["stack"]["frames"][0];
  const json& module =
      ended.rows.front()["modules"][frame["module"].get<std::size_t>()];
  EXPECT_NE(module["build_id"], "");
  EXPECT_THAT(ended.standard_error,
              HasSubstr("mishap: fit crashed: SIGSEGV: address not mapped"));
  EXPECT_LE(lines_in(ended.standard_error), 12);
}

// sentry-native#860
TEST(CasesOfCrashes, UncaughtExceptionIsToldWithItsText) {
  const Ended ended = crash_in_fit([](mishap::Run&) {
    std::thread([] { throw std::runtime_error("no such batch"); }).join();
  });
  EXPECT_EQ(ended.status, 128 + SIGABRT);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& thrown = ended.records.front()["exceptions"][0];
  EXPECT_EQ(thrown["type"], "std::runtime_error");
  EXPECT_EQ(thrown["message"], "no such batch");
  EXPECT_EQ(thrown["stack"]["origin"], "throw");
}

struct ThrowsWhenDestroyed {
  ~ThrowsWhenDestroyed() noexcept(false) {
    throw std::invalid_argument("second");
  }
};

// G5
TEST(CasesOfCrashes, SecondExceptionIsToldBesideTheFirst) {
  const Ended ended = crash_in_fit([](mishap::Run&) {
    const ThrowsWhenDestroyed thrower;
    throw std::runtime_error("first");
  });
  EXPECT_EQ(ended.status, 128 + SIGABRT);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& record = ended.records.front();
  EXPECT_EQ(record["exceptions"][0]["message"], "first");
  ASSERT_EQ(record["suppressed"].size(), 1U);
  EXPECT_EQ(record["suppressed"][0]["message"], "second");
  EXPECT_EQ(record["suppressed"][0]["step"], "unwinding");
}

void forget() noexcept {
  try {
    throw std::logic_error("caught and forgotten");
  } catch (const std::exception&) {
  }
}

TEST(CasesOfCrashes, CaughtExceptionIsNotTheFirst) {
  const Ended ended = crash_in_fit([](mishap::Run&) {
    forget();
    std::thread([] {
      forget();
      throw std::runtime_error("alone");
    }).join();
  });
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_EQ(ended.records.front()["exceptions"][0]["message"], "alone");
  EXPECT_TRUE(ended.records.front()["suppressed"].empty());
}

int endless(int depth) {
  volatile int local = depth;
  if (local < 0) {
    return 0;
  }
  const int deeper = endless(depth + 1);
  return deeper + local;
}

// G13, sentry-native#977
TEST(CasesOfCrashes, UsedUpStackIsToldWithItsRounds) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "it takes the signal before our handler has a stack";
#endif
  const Ended ended = crash_in_fit([](mishap::Run&) { endless(0); });
  EXPECT_EQ(ended.status, 128 + SIGSEGV);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& thrown = ended.records.front()["exceptions"][0];
  EXPECT_THAT(thrown["message"].get<std::string>(),
              StartsWith("stack overflow, "));
  EXPECT_THAT(thrown["message"].get<std::string>(), HasSubstr(" rounds of "));
  const json& stack = thrown["stack"];
  ASSERT_EQ(stack["repeats"].size(), 1U);
  const json& recursion = stack["repeats"][0];
  EXPECT_EQ(recursion["frames"], 1);
  EXPECT_GT(recursion["times"], 1'000);
  EXPECT_LT(recursion["first"], stack["frames"].size());
  EXPECT_FALSE(stack["truncated"].get<bool>());
  EXPECT_LE(ended.records.front().dump().size(), 16U * 1024);
}

[[gnu::noinline]] int ends(int depth) noexcept {
  if (depth == 0) {
    // As a function that may return, or the compiler sees endless recursion.
    void (*volatile last)() = std::terminate;
    last();
    return 0;
  }
  const int deeper = ends(depth - 1);
  asm volatile("" ::: "memory");
  return deeper + 1;
}

TEST(CasesOfCrashes, TerminateInARecursionIsToldWithItsRounds) {
  const Ended ended = crash_in_fit([](mishap::Run&) { ends(5'000); });
  EXPECT_EQ(ended.status, 128 + SIGABRT);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& stack = ended.records.front()["exceptions"][0]["stack"];
  EXPECT_EQ(stack["origin"], "terminate");
  ASSERT_FALSE(stack["repeats"].empty());
  EXPECT_EQ(stack["repeats"][0]["times"], 5'000);
}

TEST(CasesOfCrashes, NestedRunsLeaveOneRecordEach) {
  const Ended ended = crash_in_fit([](mishap::Run&) {
    guard("validate", [](mishap::Run& run) {
      run.step(1);
      fault();
    });
  });
  ASSERT_EQ(ended.records.size(), 2U);
  EXPECT_EQ(ended.records[0]["entry_point"], "validate");
  EXPECT_EQ(ended.records[1]["entry_point"], "fit");
  EXPECT_EQ(ended.records[0]["parent_run_id"], ended.records[1]["run_id"]);
  EXPECT_EQ(ended.records[1]["inner_record_id"], ended.records[0]["record_id"]);
}

TEST(CasesOfCrashes, CrashAfterAFailureKeepsTheFirstError) {
  const Ended ended = crash_in_fit([](mishap::Run& run) {
    run.on_teardown("data", fault);
    throw std::runtime_error("first");
  });
  EXPECT_EQ(ended.status, 128 + SIGSEGV);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& record = ended.records.front();
  EXPECT_EQ(record["kind"], "error");
  EXPECT_EQ(record["exceptions"][0]["message"], "first");
  EXPECT_EQ(record["signal"]["name"], "SIGSEGV");
  EXPECT_EQ(record["exit"]["signal"], SIGSEGV);
  ASSERT_EQ(record["threads"].size(), 1U);
  EXPECT_EQ(record["threads"][0]["stack"]["origin"], "signal");
}

// G17
TEST(CasesOfCrashes, ForkedChildLeavesARecordOfItsOwn) {
  const Ended ended = crash_in_fit([](mishap::Run& run) {
    run.step(2);
    const pid_t child = fork();
    if (child == 0) {
      fault();
    }
    waitpid(child, nullptr, 0);
    throw std::runtime_error("of the parent");
  });
  ASSERT_EQ(ended.records.size(), 2U);
  const json& child = ended.records[0];
  const json& parent = ended.records[1];
  EXPECT_EQ(child["kind"], "crash");
  EXPECT_EQ(child["process_phase"], "forked_child");
  EXPECT_EQ(child["global_step"], 2);
  EXPECT_NE(child["process"]["pid"], parent["process"]["pid"]);
  EXPECT_NE(child["run_id"], parent["run_id"]);
  EXPECT_EQ(child["parent_run_id"], parent["run_id"]);
  EXPECT_EQ(parent["exceptions"][0]["message"], "of the parent");
}

// G18
TEST(CasesOfCrashes, CrashOutsideEveryRunHasNoEntryPoint) {
  const Ended ended = ChildProgram().run([] {
    forget_handlers();
    return guarded_main(0, nullptr, fault);
  });
  EXPECT_EQ(ended.status, 128 + SIGSEGV);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& record = ended.records.front();
  EXPECT_EQ(record["kind"], "crash");
  EXPECT_TRUE(record["entry_point"].is_null());
  EXPECT_TRUE(record["stage"].is_null());
  EXPECT_EQ(record["process_phase"], "running");
  ASSERT_EQ(ended.rows.size(), 1U);
}

// G18
TEST(CasesOfCrashes, CrashInAnExitHandlerIsOneOfTheEndOfTheProcess) {
  const Ended ended = ChildProgram().run([] {
    forget_handlers();
    std::atexit(fault);
    return guarded_main(0, nullptr, [] { guard("fit", [](mishap::Run&) {}); });
  });
  EXPECT_EQ(ended.status, 128 + SIGSEGV);
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_EQ(ended.records.front()["process_phase"], "exiting");
  EXPECT_TRUE(ended.records.front()["entry_point"].is_null());
}

TEST(CasesOfCrashes, WorkerIsToldByItsRole) {
  const Ended ended = crash_in_fit([](mishap::Run&) {
    std::thread([] {
      register_worker_thread("loader");
      fault();
    }).join();
  });
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_EQ(ended.records.front()["thread"]["role"], "loader");
}

// In a program of its own: guarded_main() keeps them in this one.
TEST(CasesOfCrashesDeathTest, HandlersAreThoseOfBeforeWhenTheRunIsOver) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, SIG_DFL);
        struct sigaction during {};
        struct sigaction after {};
        guard("fit",
              [&](mishap::Run&) { sigaction(SIGSEGV, nullptr, &during); });
        sigaction(SIGSEGV, nullptr, &after);
        _exit(during.sa_handler != SIG_DFL && after.sa_handler == SIG_DFL ? 7
                                                                          : 1);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST(CasesOfCrashes, EmbedderMayKeepTheHandlers) {
  HarnessOptions options;
  options.capture.crashes = false;
  struct sigaction before {};
  sigaction(SIGSEGV, nullptr, &before);
  guard(
      "fit",
      [&](mishap::Run&) {
        struct sigaction during {};
        sigaction(SIGSEGV, nullptr, &during);
        EXPECT_EQ(reinterpret_cast<void*>(during.sa_sigaction),
                  reinterpret_cast<void*>(before.sa_sigaction));
      },
      options);
}

}  // namespace
}  // namespace mishap
