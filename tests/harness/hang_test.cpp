#include <mishap/collector/crash/thread_registry.h>
#include <mishap/trainer/harness/capture/state_probe.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <stdexcept>

#include "hang_support.h"

namespace sample {

std::mutex forward_lock;

[[gnu::noinline]] void waits_for_the_lock() {
  const std::lock_guard lock(forward_lock);
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void reads_sample() {
  hangs_here();
  asm volatile("" ::: "memory");
}

}  // namespace sample

namespace mishap::testing {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr milliseconds kBeat{10};
// Longer than a thread of a busy machine waits for a processor.
constexpr milliseconds kPatience{1500};

void beat_for(mishap::Run& run, milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    run.call(Hook::kTrainingStep, Component::named("module"),
             [] { std::this_thread::sleep_for(kBeat); });
  }
}

const json& thread_with_role(const json& record, const std::string& role) {
  for (const json& thread : record["threads"]) {
    if (thread["role"] == role) {
      return thread;
    }
  }
  static const json none = {{"stack", {{"frames", json::array()}}}};
  return none;
}

class Hangs : public ::testing::Test {
 protected:
  ChildProgram child_;
};

// backtrace-labs/crashpad#74, Lightning-AI/pytorch-lightning#2079.
TEST_F(Hangs, InAHookEndTheProgramWithTheStacksOnRecord) {
  const Ended ended = child_.run([] {
    return run_guarded([] {
      guard(
          "fit",
          [](mishap::Run& run) { hang_in_training(run, sample::hangs_here); },
          hanging_after());
    });
  });
  EXPECT_EQ(ended.status, 124);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& record = ended.records[0];
  EXPECT_EQ(record["kind"], "hang");
  EXPECT_EQ(record["entry_point"], "fit");
  EXPECT_EQ(record["stage"], "train");
  EXPECT_EQ(record["hook"], "training_step");
  EXPECT_EQ(record["component"], "module");
  EXPECT_EQ(record["global_step"], 3);
  EXPECT_EQ(record["exit"]["status"], 124);
  EXPECT_EQ(record["thread"]["role"], "main");
  ASSERT_GE(record["threads"].size(), 2U);
  const json& hung = record["threads"][0];
  EXPECT_EQ(hung["id"], record["thread"]["id"]);
  EXPECT_EQ(hung["stack"]["origin"], "watchdog");
  EXPECT_THAT(hung["state"], HasSubstr("S"));
  EXPECT_THAT(functions_of(hung), Contains(HasSubstr("hangs_here")));
  EXPECT_FALSE(record["breadcrumbs"].empty());
  EXPECT_TRUE(record["reproduce"].is_string());
  ASSERT_EQ(ended.rows.size(), 1U);
  EXPECT_EQ(ended.rows[0]["outcome"], "hung");
  EXPECT_EQ(ended.rows[0]["record_ids"][0], record["record_id"]);
  // Names can be found later.
  const json& frame = hung["stack"]["frames"][0];
  ASSERT_TRUE(frame["module"].is_number());
  EXPECT_LT(frame["module"], ended.rows[0]["modules"].size());
  EXPECT_THAT(ended.standard_error, HasSubstr("mishap: fit hangs: no hook"));
  EXPECT_THAT(ended.standard_error, HasSubstr("exit     124\n"));
}

// What a trainer knows of the world, from two threads.
class WorldProbe final : public StateProbe {
 public:
  void sample(const Run&, const collector::ExceptionChain&,
              StateSample&) noexcept override {}
  void sample_hang(std::int32_t thread_id, StateSample& out) noexcept override {
    out.modes.deterministic = true;
    out.devices[0].name = "cpu";
    out.devices[0].allocated_bytes = 4096;
    out.device_count = 1;
    out.warnings[0].message = thread_id == getpid() && gettid() != getpid()
                                  ? "seen from outside"
                                  : "";
    out.warnings[0].count = 2;
    out.warning_count = 1;
  }
};

TEST_F(Hangs, HaveTheStateThatIsKnownFromOutside) {
  const Ended ended = child_.run([] {
    static WorldProbe probe;
    register_state_probe(probe);
    return run_guarded([] {
      guard(
          "fit", [](mishap::Run&) { sample::hangs_here(); }, hanging_after());
    });
  });
  ASSERT_EQ(ended.records.size(), 1U);
  const json& record = ended.records[0];
  EXPECT_EQ(record["modes"]["deterministic"], true);
  EXPECT_TRUE(record["modes"]["grad_enabled"].is_null());
  ASSERT_EQ(record["device"].size(), 1U);
  EXPECT_EQ(record["device"][0]["allocated_bytes"], 4096);
  ASSERT_EQ(record["warnings"].size(), 1U);
  EXPECT_EQ(record["warnings"][0]["message"], "seen from outside");
  EXPECT_EQ(record["warnings"][0]["count"], 2);
}

TEST_F(Hangs, LeaveNothingPending) {
  const auto hang = [] {
    return run_guarded([] {
      guard(
          "fit", [](mishap::Run&) { sample::hangs_here(); }, hanging_after());
    });
  };
  child_.run(hang);
  EXPECT_EQ(child_.run(hang).records.size(), 2U);
}

TEST_F(Hangs, InALockShowWhoHoldsIt) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "there who waits for a lock hears no signal";
#endif
  const Ended ended = child_.run([] {
    return run_guarded([] {
      std::atomic<bool> is_held{false};
      std::thread holder([&] {
        const collector::ThreadScope scope("worker");
        prctl(PR_SET_NAME, "lock-holder");
        const std::lock_guard lock(sample::forward_lock);
        is_held = true;
        sample::reads_sample();
      });
      while (!is_held) {
        std::this_thread::yield();
      }
      guard(
          "fit",
          [](mishap::Run& run) {
            hang_in_training(run, sample::waits_for_the_lock);
          },
          hanging_after());
    });
  });
  EXPECT_EQ(ended.status, 124);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& record = ended.records[0];
  EXPECT_THAT(functions_of(record["threads"][0]),
              Contains(HasSubstr("waits_for_the_lock")));
  const json& holder = thread_with_role(record, "worker");
  EXPECT_EQ(holder["name"], "lock-holder");
  EXPECT_THAT(functions_of(holder), Contains(HasSubstr("reads_sample")));
}

// A loader polls for signals while it waits; that is no progress.
TEST_F(Hangs, InALoaderAreSeenThroughItsSafePoints) {
  const Ended ended = child_.run([] {
    return run_guarded([] {
      std::mutex mutex;
      std::condition_variable batch;
      std::thread worker([] {
        const collector::ThreadScope scope("worker");
        sample::reads_sample();
      });
      guard(
          "fit",
          [&](mishap::Run& run) {
            run.call(Hook::kLoadBatch, Component::named("loader"), [&] {
              std::unique_lock lock(mutex);
              while (batch.wait_for(lock, kBeat) == std::cv_status::timeout) {
                run.safe_point();
              }
            });
          },
          hanging_after());
    });
  });
  EXPECT_EQ(ended.status, 124);
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_EQ(ended.records[0]["hook"], "load_batch");
  EXPECT_THAT(functions_of(thread_with_role(ended.records[0], "worker")),
              Contains(HasSubstr("reads_sample")));
}

TEST_F(Hangs, ElsewhereAreRecordedOnceAndWaitedFor) {
  const Ended ended = child_.run([] {
    guard(
        "fit",
        [](mishap::Run& run) {
          hang_in_training(run,
                           [] { std::this_thread::sleep_for(6 * kAfter); });
          beat_for(run, 2 * kAfter);
          hang_in_training(run,
                           [] { std::this_thread::sleep_for(3 * kAfter); });
        },
        hanging_after());
    return 7;
  });
  EXPECT_EQ(ended.status, 7);
  ASSERT_EQ(ended.records.size(), 2U);
  EXPECT_EQ(ended.records[0]["kind"], "hang");
  EXPECT_EQ(ended.records[1]["kind"], "hang");
  EXPECT_NE(ended.records[0]["record_id"], ended.records[1]["record_id"]);
  EXPECT_TRUE(ended.records[0]["exit"]["status"].is_null());
  EXPECT_THAT(ended.standard_error, HasSubstr("the wait goes on"));
  ASSERT_FALSE(ended.rows.empty());
  EXPECT_EQ(ended.rows.front()["outcome"], "hung");
  EXPECT_EQ(ended.rows.back()["outcome"], "success");
  EXPECT_EQ(ended.rows.back()["record_ids"][0], ended.records[1]["record_id"]);
}

TEST_F(Hangs, EndTheProcessWhereThatIsAskedFor) {
  const Ended ended = child_.run([] {
    HarnessOptions options = hanging_after();
    options.hang.then = OnHang::kEnd;
    guard(
        "fit", [](mishap::Run&) { sample::hangs_here(); }, options);
    return 0;
  });
  EXPECT_EQ(ended.status, 124);
  EXPECT_EQ(ended.records.size(), 1U);
}

TEST_F(Hangs, AreAskedForByTheEnvironment) {
  const auto hang = [](const char* seconds) {
    return [seconds] {
      setenv("MISHAP_HANG_AFTER", seconds, 1);
      return run_guarded([] {
        guard("fit", [](mishap::Run&) {
          std::this_thread::sleep_for(milliseconds(500));
        });
      });
    };
  };
  EXPECT_EQ(child_.run(hang("0.1")).status, 124);
  const Ended nonsense = child_.run(hang("soon"));
  EXPECT_EQ(nonsense.status, 0);
  EXPECT_THAT(nonsense.standard_error, HasSubstr("MISHAP_HANG_AFTER='soon'"));
}

TEST_F(Hangs, AreNoneWithoutBeingAskedFor) {
  const Ended ended = child_.run([] {
    guard("fit",
          [](mishap::Run&) { std::this_thread::sleep_for(milliseconds(300)); });
    return 0;
  });
  EXPECT_EQ(ended.records.size(), 0U);
}

TEST_F(Hangs, AreNoneWhileHooksGoOn) {
  const Ended ended = child_.run([] {
    return run_guarded([] {
      guard(
          "fit", [](mishap::Run& run) { beat_for(run, 2 * kPatience); },
          hanging_after(kPatience));
    });
  });
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.records.size(), 0U);
}

TEST_F(Hangs, OfANestedRunAreItsOwn) {
  const Ended ended = child_.run([] {
    return run_guarded([] {
      guard(
          "fit",
          [](mishap::Run&) {
            guard("validate", [](mishap::Run& run) {
              beat_for(run, 2 * kPatience);
              hang_in_training(run, sample::hangs_here);
            });
          },
          hanging_after(kPatience));
    });
  });
  EXPECT_EQ(ended.status, 124);
  ASSERT_EQ(ended.records.size(), 2U);
  EXPECT_EQ(ended.records[0]["kind"], "hang");
  EXPECT_EQ(ended.records[0]["entry_point"], "validate");
  EXPECT_EQ(ended.records[1]["kind"], "exit");
  EXPECT_EQ(ended.records[1]["entry_point"], "fit");
  EXPECT_EQ(ended.records[1]["inner_record_id"], ended.records[0]["record_id"]);
}

TEST_F(Hangs, OfOneThreadsRunAreNotTheOthers) {
  const Ended ended = child_.run([] {
    std::thread other([] {
      guard(
          "test", [](mishap::Run& run) { beat_for(run, 5 * kAfter); },
          hanging_after(kPatience));
    });
    guard(
        "fit",
        [](mishap::Run& run) {
          hang_in_training(run,
                           [] { std::this_thread::sleep_for(3 * kAfter); });
        },
        hanging_after());
    other.join();
    return 0;
  });
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_EQ(ended.records[0]["entry_point"], "fit");
}

// A debugger, SIGSTOP, a suspended machine.
TEST_F(Hangs, AreNotWhatAStoppedProcessIsTakenFor) {
  const Ended ended = child_.run([] {
    return run_guarded([] {
      guard(
          "fit",
          [](mishap::Run& run) {
            const pid_t stopped = getpid();
            if (fork() == 0) {
              kill(stopped, SIGSTOP);
              std::this_thread::sleep_for(2 * kPatience);
              kill(stopped, SIGCONT);
              _exit(0);
            }
            beat_for(run, 3 * kPatience);
          },
          hanging_after(kPatience));
    });
  });
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.records.size(), 0U);
}

TEST_F(Hangs, AreWatchedForAsLongAsARunLasts) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "it has threads of its own";
#endif
  const Ended ended = child_.run([] {
    const auto threads = [] {
      return std::distance(
          std::filesystem::directory_iterator("/proc/self/task"),
          std::filesystem::directory_iterator());
    };
    const auto before = threads();
    int during = 0;
    for (int i = 0; i < 3; ++i) {
      guard(
          "fit",
          [&](mishap::Run&) { during = static_cast<int>(threads() - before); },
          hanging_after());
    }
    return during * 10 + static_cast<int>(threads() - before);
  });
  EXPECT_EQ(ended.status, 10);
}

TEST_F(Hangs, OfTheParentAreNoneOfAForkedChild) {
  const Ended ended = child_.run([] {
    int status = 0;
    guard(
        "fit",
        [&](mishap::Run& run) {
          const pid_t child = fork();
          if (child == 0) {
            std::this_thread::sleep_for(2 * kPatience);
            _exit(5);
          }
          beat_for(run, 2 * kPatience);
          waitpid(child, &status, 0);
        },
        hanging_after(kPatience));
    return WEXITSTATUS(status);
  });
  EXPECT_EQ(ended.status, 5);
  EXPECT_EQ(ended.records.size(), 0U);
}

TEST_F(Hangs, InACleanupKeepTheFirstError) {
  const Ended ended = child_.run([] {
    return run_guarded([] {
      guard(
          "fit",
          [](mishap::Run& run) {
            run.on_teardown("slow", sample::hangs_here);
            throw std::runtime_error("x");
          },
          hanging_after());
    });
  });
  EXPECT_EQ(ended.status, 124);
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_EQ(ended.records[0]["kind"], "error");
  EXPECT_EQ(ended.records[0]["exceptions"][0]["message"], "x");
  EXPECT_EQ(ended.records[0]["exit"]["status"], 124);
  EXPECT_THAT(functions_of(ended.records[0]["threads"][0]),
              Contains(HasSubstr("hangs_here")));
}

}  // namespace
}  // namespace mishap::testing
