#include <gmock/gmock.h>
#include <mishap/faultinject/hit.h>
#include <mishap/faultinject/throw_type.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "support.h"

namespace mishap::faultinject {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t caught = 0;

class SignalCatcher {
 public:
  explicit SignalCatcher(int signal) : signal_(signal) {
    caught = 0;
    previous_ = std::signal(signal, [](int number) { caught = number; });
  }
  ~SignalCatcher() { std::signal(signal_, previous_); }

 private:
  int signal_;
  void (*previous_)(int);
};

TEST(ActionTest, PrintWritesOneLineAndGoesOn) {
  const auto scenario = arm_text("hook/action/a=print(\"here I am\")");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(hits("hook/action/a", 1), ".");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "mishap: hook/action/a: here I am\n");
}

TEST(ActionTest, SleepAndDelayTakeTheirTime) {
  const auto scenario =
      arm_text("hook/action/a=sleep(20); hook/action/b=delay(20)");
  for (const char* point : {"hook/action/a", "hook/action/b"}) {
    const auto start = Clock::now();
    hits(point, 1);
    EXPECT_GE(Clock::now() - start, milliseconds(20)) << point;
  }
}

TEST(ActionTest, PauseWaitsUntilItsScenarioIsDisarmed) {
  auto scenario = arm_text("hook/action/a=pause");
  std::atomic<bool> has_gone_on = false;
  std::thread paused([&] {
    hits("hook/action/a", 1);
    has_gone_on = true;
  });
  while (scenario.fired() == 0) std::this_thread::yield();
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(has_gone_on);
  scenario.disarm();
  paused.join();
  EXPECT_TRUE(has_gone_on);
}

TEST(ActionTest, InterruptRaisesItsSignalBeforeTheHitReturns) {
  const auto scenario = arm_text(
      "hook/action/a=interrupt(SIGINT); hook/action/b=interrupt(SIGTERM)");
  {
    const SignalCatcher catcher(SIGINT);
    EXPECT_EQ(hits("hook/action/a", 1), ".");
    EXPECT_EQ(caught, SIGINT);
  }
  const SignalCatcher catcher(SIGTERM);
  hits("hook/action/b", 1);
  EXPECT_EQ(caught, SIGTERM);
}

TEST(ActionTest, SignalRaisesAnyOther) {
  const auto scenario = arm_text("hook/action/a=signal(SIGUSR1)");
  const SignalCatcher catcher(SIGUSR1);
  hits("hook/action/a", 1);
  EXPECT_EQ(caught, SIGUSR1);
}

TEST(ActionTest, ActionsOfOtherLayersComeBackAsDirectives) {
  const auto scenario = arm_text(
      "io/file/write=1*errno(ENOSPC)->1*short(3)->1*torn(4)->1*bitflip(31)->"
      "1*nan->1*inf->1*zero->1*corrupt");
  const PointId point = intern("io/file/write");
  const Directive full = hit(point);
  EXPECT_EQ(full.action, ActionKind::kErrno);
  EXPECT_EQ(full.number, ENOSPC);
  EXPECT_EQ(hit(point).number, 3);
  EXPECT_EQ(hit(point).action, ActionKind::kTorn);
  EXPECT_EQ(hit(point).number, 31);
  EXPECT_EQ(hit(point).action, ActionKind::kNan);
  EXPECT_EQ(hit(point).action, ActionKind::kInf);
  EXPECT_EQ(hit(point).action, ActionKind::kZero);
  EXPECT_EQ(hit(point).action, ActionKind::kCorrupt);
  EXPECT_FALSE(hit(point));
  EXPECT_EQ(scenario.fired(), 8u);
}

struct Unfit {
  const char* plan;
  const char* message;
};

TEST(ActionTest, ArmingWhatAPointCannotTakeIsAnError) {
  const Unfit kUnfit[] = {
      {"hook/a/b=nan",
       "fault plan, item 1, column 10: 'nan' can't be done at 'hook/…' points; "
       "choose another action or another point"},
      {"hook/a/b=return(3)",
       "fault plan, item 1, column 10: 'return' can't be done at 'hook/…' "
       "points; choose another action or another point"},
      {"op/x=errno(EIO)",
       "fault plan, item 1, column 6: 'errno' can't be done at 'op/…' points; "
       "choose another action or another point"},
      {"**=torn(3)",
       "fault plan, item 1, column 4: 'torn' can't be done at 'hook/…' points; "
       "narrow the pattern, or choose another action"},
  };
  for (const Unfit& unfit : kUnfit) {
    EXPECT_EQ(message_of([&] { arm_text(unfit.plan).disarm(); }),
              unfit.message);
  }
}

TEST(ActionTest, TheToolkitNeverInjectsIntoItself) {
  static int depth = 0;
  register_throw_type("recursive", [](std::string_view text) {
    ++depth;
    hit(intern("hook/action/recursive"));
    throw std::runtime_error(std::string(text));
  });
  const auto scenario = arm_text("hook/action/recursive=throw(recursive)");
  EXPECT_EQ(hits("hook/action/recursive", 2), "XX");
  EXPECT_EQ(depth, 2);
}

class ActionDeathTest : public ::testing::Test {
 protected:
  static void strike(const char* action) {
    const auto scenario = arm_text("hook/deadly/a=" + std::string(action));
    hits("hook/deadly/a", 1);
  }
};

TEST_F(ActionDeathTest, PanicPrintsAndTerminates) {
  EXPECT_EXIT(strike("panic(\"no way\")"), ::testing::KilledBySignal(SIGABRT),
              HasSubstr("mishap: panic at hook/deadly/a: no way"));
}

TEST_F(ActionDeathTest, AbortAborts) {
  EXPECT_EXIT(strike("abort"), ::testing::KilledBySignal(SIGABRT), "");
}

TEST_F(ActionDeathTest, ExitEndsWithItsCode) {
  EXPECT_EXIT(strike("exit(42)"), ::testing::ExitedWithCode(42), "");
}

TEST_F(ActionDeathTest, SignalMayKill) {
  EXPECT_EXIT(strike("signal(SIGKILL)"), ::testing::KilledBySignal(SIGKILL),
              "");
}

TEST_F(ActionDeathTest, HangNeverReturns) {
  EXPECT_EXIT(
      {
        std::signal(SIGALRM, SIG_DFL);
        ::alarm(1);
        strike("hang");
        std::_Exit(0);
      },
      ::testing::KilledBySignal(SIGALRM), "");
}

}  // namespace
}  // namespace mishap::faultinject
