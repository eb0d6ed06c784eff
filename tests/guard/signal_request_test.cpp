#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/guard/guarded_call.h>
#include <mishap/trainer/guard/signal_request.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace mishap {
namespace {

using ::testing::HasSubstr;

std::atomic<int> own_calls{0};
void note_call(int) { ++own_calls; }

std::atomic<pid_t> own_sender{0};
void note_sender(int, siginfo_t* info, void*) {
  ++own_calls;
  own_sender = info->si_pid;
}

struct sigaction action_of(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action;
}

class SignalRequests : public ::testing::Test {
 protected:
  void SetUp() override {
    own_calls = 0;
    own_sender = 0;
    signal(SIGUSR1, SIG_DFL);
    signal(SIGUSR2, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
  }
  void TearDown() override { SetUp(); }
};

TEST_F(SignalRequests, AreTakenOnceForEachBurst) {
  for (const int number : {SIGUSR1, SIGUSR2, SIGHUP, SIGRTMIN}) {
    SignalRequest request(number);
    EXPECT_FALSE(request.take());
    raise(number);
    raise(number);
    EXPECT_TRUE(request.take());
    EXPECT_FALSE(request.take());
    raise(number);
    EXPECT_TRUE(request.take());
  }
}

TEST_F(SignalRequests, OfOneSignalAreNotThoseOfAnother) {
  SignalRequest one(SIGUSR1);
  SignalRequest other(SIGUSR2);
  raise(SIGUSR1);
  EXPECT_TRUE(one.take());
  EXPECT_FALSE(other.take());
}

TEST_F(SignalRequests, ThatCameBeforeTheObjectAreNotItsOwn) {
  SignalRequest early(SIGUSR1);
  raise(SIGUSR1);
  SignalRequest late(SIGUSR1);
  EXPECT_FALSE(late.take());
  EXPECT_TRUE(early.take());
}

TEST_F(SignalRequests, ReachAnEarlierHandlerToo) {
  signal(SIGUSR1, note_call);
  SignalRequest request(SIGUSR1);
  raise(SIGUSR1);
  EXPECT_EQ(own_calls, 1);
  EXPECT_TRUE(request.take());
}

TEST_F(SignalRequests, ReachAnEarlierHandlerWithWhatTheKernelSays) {
  struct sigaction own {};
  own.sa_sigaction = note_sender;
  own.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &own, nullptr);
  SignalRequest request(SIGUSR1);
  kill(getpid(), SIGUSR1);
  EXPECT_EQ(own_calls, 1);
  EXPECT_EQ(own_sender, getpid());
  EXPECT_TRUE(request.take());
}

TEST_F(SignalRequests, LeaveTheActionWithItsFlagsAndMask) {
  struct sigaction own {};
  own.sa_sigaction = note_sender;
  own.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&own.sa_mask);
  sigaddset(&own.sa_mask, SIGALRM);
  sigaction(SIGUSR1, &own, nullptr);
  const struct sigaction before = action_of(SIGUSR1);
  { const SignalRequest request(SIGUSR1); }
  const struct sigaction after = action_of(SIGUSR1);
  EXPECT_EQ(after.sa_sigaction, note_sender);
  EXPECT_EQ(after.sa_flags, before.sa_flags);
  EXPECT_EQ(sigismember(&after.sa_mask, SIGALRM), 1);
  EXPECT_EQ(sigismember(&after.sa_mask, SIGTERM), 0);
}

TEST_F(SignalRequests, AfterTheObjectReachTheOldHandlerAlone) {
  signal(SIGUSR1, note_call);
  { const SignalRequest request(SIGUSR1); }
  raise(SIGUSR1);
  EXPECT_EQ(own_calls, 1);
}

TEST_F(SignalRequests, AreCountedWhereTheSignalWasIgnoredAndItIsAgain) {
  signal(SIGHUP, SIG_IGN);
  {
    SignalRequest request(SIGHUP);
    raise(SIGHUP);
    EXPECT_TRUE(request.take());
  }
  EXPECT_EQ(action_of(SIGHUP).sa_handler, SIG_IGN);
  raise(SIGHUP);
}

using SignalRequestsDeathTest = SignalRequests;

TEST_F(SignalRequestsDeathTest, AfterTheObjectDoWhatTheyDidByDefault) {
  EXPECT_EXIT(
      {
        { const SignalRequest request(SIGUSR1); }
        raise(SIGUSR1);
        _exit(0);
      },
      ::testing::KilledBySignal(SIGUSR1), "");
}

TEST_F(SignalRequests, OfOverlappingObjectsReachEachUntilTheLast) {
  signal(SIGUSR1, note_call);
  auto first = std::make_unique<SignalRequest>(SIGUSR1);
  SignalRequest second(SIGUSR1);
  raise(SIGUSR1);
  EXPECT_TRUE(first->take());
  EXPECT_TRUE(second.take());
  EXPECT_EQ(own_calls, 1);
  first.reset();
  raise(SIGUSR1);
  EXPECT_TRUE(second.take());
  EXPECT_EQ(own_calls, 2);
}

TEST_F(SignalRequests, OnTwoThreadsAreToldToBoth) {
  constexpr int kRounds = 200;
  std::atomic<int> ready{0};
  std::atomic<bool> is_sent{false};
  std::atomic<int> taken{0};
  for (int round = 0; round < kRounds; ++round) {
    ready = 0;
    is_sent = false;
    const auto ask = [&] {
      SignalRequest request(SIGUSR1);
      ++ready;
      while (!is_sent) {
        std::this_thread::yield();
      }
      taken += request.take() ? 1 : 0;
    };
    std::thread one(ask);
    std::thread two(ask);
    while (ready < 2) {
      std::this_thread::yield();
    }
    raise(SIGUSR1);
    is_sent = true;
    one.join();
    two.join();
  }
  EXPECT_EQ(taken, 2 * kRounds);
  EXPECT_EQ(action_of(SIGUSR1).sa_handler, SIG_DFL);
}

TEST_F(SignalRequests, AreNotThoseOfAForkedChild) {
  signal(SIGUSR1, note_call);
  SignalRequest request(SIGUSR1);
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGUSR1);
    _exit(request.take() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(request.take());
}

TEST_F(SignalRequests, OfAnObjectMadeInAForkedChildAreItsOwn) {
  const SignalRequest outer(SIGUSR1);
  const pid_t child = fork();
  if (child == 0) {
    SignalRequest request(SIGUSR1);
    raise(SIGUSR1);
    _exit(request.take() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

struct sigaction was_under_it {};
void hand_back(int number, siginfo_t* info, void* context) {
  ++own_calls;
  if ((was_under_it.sa_flags & SA_SIGINFO) != 0) {
    was_under_it.sa_sigaction(number, info, context);
  }
}

TEST_F(SignalRequests, AreCountedOnceUnderAndOverAHandlerThatChains) {
  {
    SignalRequest request(SIGUSR1);
    struct sigaction over {};
    over.sa_sigaction = hand_back;
    over.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR1, &over, &was_under_it);
    raise(SIGUSR1);
    EXPECT_TRUE(request.take());
    EXPECT_EQ(own_calls, 1);
  }
  // It stays: it was installed by somebody else.
  EXPECT_EQ(action_of(SIGUSR1).sa_sigaction, hand_back);
  SignalRequest request(SIGUSR1);
  raise(SIGUSR1);
  EXPECT_TRUE(request.take());
  EXPECT_EQ(own_calls, 2);
}

TEST_F(SignalRequests, LetASystemCallGoOn) {
  SignalRequest request(SIGUSR1);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pthread_t reader = pthread_self();
  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    pthread_kill(reader, SIGUSR1);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(write(ends[1], "x", 1), 1);
  });
  char text = 0;
  EXPECT_EQ(read(ends[0], &text, 1), 1);
  sender.join();
  EXPECT_TRUE(request.take());
  close(ends[0]);
  close(ends[1]);
}

TEST_F(SignalRequests, LeaveErrnoAlone) {
  SignalRequest request(SIGUSR1);
  errno = ENOENT;
  raise(SIGUSR1);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(SignalRequests, DoNotInterruptARun) {
  SignalRequest request(SIGUSR1);
  guarded_call("fit", {}, [&](mishap::Run& run) {
    raise(SIGUSR1);
    run.step(0);
    EXPECT_TRUE(request.take());
  });
  EXPECT_NE(action_of(SIGUSR1).sa_handler, SIG_DFL);
}

TEST_F(SignalRequests, BySignalsThatAreNotFreeAreRefused) {
  const std::pair<int, const char*> refused[] = {
      {SIGINT, "SIGINT: it asks a run to end, use SIGUSR1"},
      {SIGTERM, "SIGTERM: it asks a run to end"},
      {SIGKILL, "SIGKILL: no program can catch it"},
      {SIGSTOP, "SIGSTOP: no program can catch it"},
      {SIGSEGV, "SIGSEGV: it is the signal of a crash"},
      {SIGABRT, "SIGABRT: it is the signal of a crash"},
      {0, "signal 0: there is no such signal"},
      {32, "signal 32: there is no such signal"},
      {1000, "signal 1000: there is no such signal"},
      {-1, "signal -1: there is no such signal"},
  };
  for (const auto& [number, why] : refused) {
    try {
      const SignalRequest request(number);
      ADD_FAILURE() << number << " was taken";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  }
}

}  // namespace
}  // namespace mishap
