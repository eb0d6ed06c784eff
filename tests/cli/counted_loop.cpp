// Guarded runs as fast as they go, in a program with a signal handler of its
// own. Each signal must come out once: as Interrupted from the guard that it
// met, or in the handler when it met none. For each the program writes 'i' or
// 'h' on stdout.
#include <mishap/guard.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace {

std::atomic<int> handled{0};

void on_signal(int signal) {
  struct sigaction now {};
  sigaction(signal, nullptr, &now);
  // A guard's handler passes every signal on to this one. That does not count:
  // the guard has to answer it, or to raise it again when it has left.
  if (now.sa_handler == on_signal) {
    ++handled;
  }
}

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
  tell('r');
  for (int told = 0;;) {
    try {
      mishap::guard("fit", a_few_steps, options);
    } catch (const mishap::Interrupted&) {
      tell('i');
    }
    for (; told < handled; ++told) {
      tell('h');
    }
  }
}
