// Fails in the way that its first argument names, guarded or, with --bare
// behind it, as the same program without Mishap. tests/collector/kinds runs
// it; kinds.csv lists the ways.
#include <fcntl.h>
#include <mishap/guard.h>
#include <mishap/trainer/guard/worker_thread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "ways_to_fail.h"

namespace {

using namespace ways;
using mishap::Hook;

bool is_bare = false;
std::string_view kind;

// The body as the hook of a run; without a run just the body.
template <class Body>
void in_hook(Hook hook, Body body) {
  mishap::Run* const run = mishap::Run::current();
  if (run == nullptr) {
    body();
    return;
  }
  run->set_stage(mishap::Stage::kTrain);
  run->set_epoch(0);
  run->set_batch(3);
  run->set_step(3);
  run->call(hook, mishap::Component::named("module"), body);
}

template <class Way>
void in_step(Way way) {
  in_hook(Hook::kTrainingStep, [way] { fail_here(way); });
}

// On a thread of its own; what it throws is carried back if that is asked for.
template <class Way>
void on_thread(Hook hook, Way way, bool carries) {
  in_hook(hook, [&] {
    std::exception_ptr error;
    std::thread thread([&] {
      mishap::register_worker_thread("loader");
      if (!carries) {
        fail_here(way);
        return;
      }
      try {
        fail_here(way);
      } catch (...) {
        error = std::current_exception();
      }
    });
    thread.join();
    if (error) {
      std::rethrow_exception(error);
    }
  });
}

template <class Way>
void in_openmp(Way way, bool carries) {
  in_hook(Hook::kTrainingStep, [&] {
    std::exception_ptr error;
#pragma omp parallel for schedule(static) num_threads(2)
    for (int thread = 0; thread < 2; ++thread) {
      if (thread == 0) {
        continue;
      }
      if (!carries) {
        fail_here(way);
        continue;
      }
      try {
        fail_here(way);
      } catch (...) {
        error = std::current_exception();
      }
    }
    if (error) {
      std::rethrow_exception(error);
    }
  });
}

void on_two_threads() {
  in_hook(Hook::kTrainingStep, [] {
    std::atomic<int> ready{0};
    const auto fail = [&ready] {
      mishap::register_worker_thread("loader");
      ++ready;
      while (ready < 2) {
      }
      fail_here(SegvRead());
    };
    std::thread first(fail);
    std::thread second(fail);
    first.join();
    second.join();
  });
}

void in_teardown() {
  if (mishap::Run* const run = mishap::Run::current()) {
    run->on_teardown("data", [] { fail_here(SegvRead()); });
  } else {
    fail_here(SegvRead());
  }
}

void after_failure() {
  if (mishap::Run* const run = mishap::Run::current()) {
    run->on_teardown("data", [] { fail_here(SegvRead()); });
    in_step(ThrowRuntimeError());
  }
  fail_here(SegvRead());
}

void in_forked_child() {
  in_hook(Hook::kTrainingStep, [] {
    const pid_t child = fork();
    if (child == 0) {
      fail_here(SegvRead());
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV) {
      _exit(99);
    }
  });
}

std::mutex never_free;

using Body = void (*)();

const std::map<std::string_view, Body> kInRun = {
    {"none", [] {}},
    {"throw_main", [] { in_step(ThrowOutOfRange()); }},
    {"throw_int", [] { in_step(ThrowInt()); }},
    {"throw_thread",
     [] { on_thread(Hook::kTrainingStep, ThrowRuntimeError(), true); }},
    {"throw_worker",
     [] { on_thread(Hook::kLoadBatch, ThrowRuntimeError(), true); }},
    {"throw_openmp", [] { in_openmp(ThrowRuntimeError(), true); }},
    {"segv_read", [] { in_step(SegvRead()); }},
    {"segv_write", [] { in_step(SegvWrite()); }},
    {"segv_thread", [] { on_thread(Hook::kTrainingStep, SegvRead(), false); }},
    {"segv_worker", [] { on_thread(Hook::kLoadBatch, SegvRead(), false); }},
    {"segv_openmp", [] { in_openmp(SegvRead(), false); }},
    {"segv_call_null", [] { in_step(SegvCallNull()); }},
    {"segv_sent", [] { in_step(WaitForSignal()); }},
    {"segv_two_threads", on_two_threads},
    {"segv_teardown", in_teardown},
    {"segv_nested", [] { in_step(SegvRead()); }},
    {"segv_after_failure", after_failure},
    {"abrt", [] { in_step(Abort()); }},
    {"abrt_assert", [] { in_step(Assert()); }},
    {"bus", [] { in_step(Bus()); }},
    {"fpe", [] { in_step(DivideByZero()); }},
    {"ill", [] { in_step(IllegalInstruction()); }},
    {"trap", [] { in_step(Trap()); }},
    {"sys", [] { in_step(BadSystemCall()); }},
    {"xfsz", [] { in_step(FileTooLarge()); }},
    {"xcpu", [] { in_step(ProcessorTime()); }},
    {"terminate_thread",
     [] { on_thread(Hook::kTrainingStep, ThrowRuntimeError(), false); }},
    {"terminate_openmp", [] { in_openmp(ThrowRuntimeError(), false); }},
    {"terminate_noexcept", [] { in_step(MeetNoexcept()); }},
    {"terminate_destructor", [] { in_step(ThrowInDestructor()); }},
    {"terminate_bare_throw", [] { in_step(ThrowNothing()); }},
    {"terminate_joinable", [] { in_step(DestroyJoinable()); }},
    {"terminate_pure_call", [] { in_step(CallPure()); }},
    {"overflow_main", [] { in_step(UseUpStack()); }},
    {"overflow_thread",
     [] { on_thread(Hook::kTrainingStep, UseUpStack(), false); }},
    {"overflow_big_frame", [] { in_step(UseUpStackAtOnce()); }},
    {"heap_double_free", [] { in_step(FreeTwice()); }},
    {"heap_overrun", [] { in_step(OverrunHeap()); }},
    {"heap_lock_held", [] { in_step(FaultInMalloc()); }},
    {"stack_smash", [] { in_step(SmashStack()); }},
    {"exit_in_hook",
     [] { in_hook(Hook::kTrainingStep, [] { std::exit(0); }); }},
    {"forked_child", in_forked_child},
    {"sigkill", [] { in_step(Kill()); }},
    {"oom", [] { in_step(TakeMemory()); }},
    {"hang_hook", [] { in_step(SleepForEver()); }},
    {"hang_loader", [] { on_thread(Hook::kLoadBatch, SleepForEver(), false); }},
    {"hang_lock",
     [] {
       std::thread([] { never_free.lock(); }).join();
       in_hook(Hook::kTrainingStep,
               [] { fail_here(WaitForLock{&never_free}); });
     }},
};

// Before main and after it.
struct Life {
  Life() {
    const char* const early = std::getenv("MISHAP_TEST_BEFORE_MAIN");
    if (early == nullptr) {
      return;
    }
    if (std::string_view(early) == "guarded") {
      mishap::record_crashes();
    }
    fail_here(SegvRead());
  }
  ~Life() {
    if (kind == "after_main") {
      fail_here(SegvRead());
    }
  }
};
const Life life;

void guarded_run(Body body) {
  mishap::guard("fit", [body](mishap::Run&) { body(); });
}

void install_handler_that_fails() {
  struct sigaction action {};
  action.sa_handler = [](int) { fail_here(SegvRead()); };
  sigaction(SIGSEGV, &action, nullptr);
}

void outside() {
  if (kind == "throw_outside") {
    fail_here(ThrowRuntimeError());
  }
  if (kind == "between_runs") {
    if (!is_bare) {
      guarded_run([] {});
    }
    fail_here(SegvRead());
  }
}

void work() {
  const auto found = kInRun.find(kind);
  if (found == kInRun.end()) {
    outside();
  } else if (is_bare) {
    found->second();
  } else {
    guarded_run(found->second);
  }
}

}  // namespace

int main(int argc, char** argv) {
  kind = argc > 1 ? argv[1] : "";
  is_bare = argc > 2 && std::string_view(argv[2]) == "--bare";
  if (kind == "segv_nested") {
    install_handler_that_fails();
  }
  if (kind == "terminate_main") {
    if (!is_bare) {
      mishap::record_crashes();
    }
    fail_here(ThrowRuntimeError());
  }
  if (!is_bare) {
    return mishap::guarded_main(argc, argv, work);
  }
  try {
    work();
    return 0;
  } catch (...) {
    return 1;
  }
}
