// Guarded runs as fast as they go, in a program with a signal handler of its
// own. The handler must hear of each signal once, whether a guard honours it or
// not. For each the program writes on stdout 'i' when a run was interrupted by
// it, else 'h'.
#include <mishap/guard.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace {

std::atomic<int> handled{0};

void on_signal(int) { ++handled; }

void tell(char what) {
  if (write(STDOUT_FILENO, &what, 1) != 1) {
    std::_Exit(1);
  }
}

void a_few_steps(mishap::Run& run) {
  for (int step = 0; step < 1000; ++step) {
    run.step(step);
  }
}

}  // namespace

int main() {
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, nullptr);
  }
  mishap::HarnessOptions options;
  options.capture.report_on_stderr = false;
  // Every record counts here, and all of them are of one kind.
  options.capture.caps = mishap::collector::RecordCaps::none();
  tell('r');
  for (int told = 0;;) {
    try {
      mishap::guard("fit", a_few_steps, options);
    } catch (const mishap::Interrupted&) {
      tell('i');
      ++told;
    }
    for (; told < handled; ++told) {
      tell('h');
    }
  }
}
