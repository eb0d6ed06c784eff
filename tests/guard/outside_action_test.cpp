#include <gtest/gtest.h>
#include <mishap/trainer/guard/guarded_call.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace mishap {
namespace {

using ::testing::ExitedWithCode;

constexpr int kOutside = 7;

volatile std::sig_atomic_t calls_of_program = 0;
void handler_of_program(int) { calls_of_program = calls_of_program + 1; }

void leave(const signals::Received&) { _exit(kOutside); }

struct sigaction present_action(int signal) {
  struct sigaction now {};
  sigaction(signal, nullptr, &now);
  return now;
}

// Raises SIGINT in a run; whether that ended it.
bool is_interrupted() {
  try {
    guarded_call("fit", {}, [](mishap::Run& run) {
      std::raise(SIGINT);
      run.step(0);
    });
  } catch (const Interrupted&) {
    return true;
  }
  return false;
}

// Each ends the process: an outside action stays for good.
class OutsideActionDeathTest : public ::testing::Test {
 protected:
  static void install() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    signals::install_outside_action(leave);
  }
  [[noreturn]] static void end(bool is_good) { _exit(is_good ? 0 : 1); }
};

// C12
TEST_F(OutsideActionDeathTest, RunTakesOverAHandlerOfTheProgramAndTellsIt) {
  EXPECT_EXIT(
      {
        install();
        std::signal(SIGINT, handler_of_program);
        end(is_interrupted() && calls_of_program == 1 && is_interrupted() &&
            calls_of_program == 2);
      },
      ExitedWithCode(0), "");
}

TEST_F(OutsideActionDeathTest, RunTakesOverAHandlerInstalledInTheOneBefore) {
  EXPECT_EXIT(
      {
        install();
        guarded_call("fit", {}, [](mishap::Run&) {
          std::signal(SIGINT, handler_of_program);
        });
        end(is_interrupted() && calls_of_program == 1);
      },
      ExitedWithCode(0), "");
}

// C7
TEST_F(OutsideActionDeathTest, RunGivesBackTheVeryActionThatItFound) {
  EXPECT_EXIT(
      {
        install();
        struct sigaction own {};
        own.sa_handler = handler_of_program;
        own.sa_flags = SA_RESTART | SA_NODEFER;
        sigaddset(&own.sa_mask, SIGUSR1);
        sigaction(SIGINT, &own, nullptr);
        const struct sigaction term = present_action(SIGTERM);
        is_interrupted();
        const struct sigaction now = present_action(SIGINT);
        std::raise(SIGINT);
        end(now.sa_handler == handler_of_program &&
            (now.sa_flags & SA_NODEFER) != 0 &&
            sigismember(&now.sa_mask, SIGUSR1) == 1 && calls_of_program == 2 &&
            present_action(SIGTERM).sa_sigaction == term.sa_sigaction);
      },
      ExitedWithCode(0), "");
}

TEST_F(OutsideActionDeathTest, StaysBetweenRuns) {
  EXPECT_EXIT(
      {
        install();
        if (!is_interrupted()) {
          end(false);
        }
        std::raise(SIGINT);
        end(false);
      },
      ExitedWithCode(kOutside), "");
}

TEST_F(OutsideActionDeathTest, IsBackWhenTheProgramPutsItBack) {
  EXPECT_EXIT(
      {
        install();
        const struct sigaction ours = present_action(SIGINT);
        std::signal(SIGINT, handler_of_program);
        is_interrupted();
        sigaction(SIGINT, &ours, nullptr);
        std::raise(SIGINT);
        end(false);
      },
      ExitedWithCode(kOutside), "");
}

TEST_F(OutsideActionDeathTest, ForkedChildKnowsNoHandlerThatIsGone) {
  EXPECT_EXIT(
      {
        install();
        const struct sigaction ours = present_action(SIGINT);
        std::signal(SIGINT, handler_of_program);
        is_interrupted();
        sigaction(SIGINT, &ours, nullptr);
        const pid_t child = fork();
        if (child == 0) {
          std::raise(SIGINT);
          _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        end(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
      },
      ExitedWithCode(0), "");
}

}  // namespace
}  // namespace mishap
