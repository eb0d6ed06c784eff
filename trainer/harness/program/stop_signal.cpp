#include <mishap/trainer/harness/program/stop_signal.h>
#include <signal.h>

#include <array>

namespace mishap::program {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
volatile sig_atomic_t first = 0;
struct sigaction before[kSignals.size()];

void take_down(int signal) {
  if (first == 0) {
    first = signal;
  }
}

}  // namespace

StopSignal::StopSignal() {
  first = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) {
      // Without SA_RESTART, so that a wait ends.
      struct sigaction action {};
      action.sa_handler = take_down;
      sigaction(kSignals[i], &action, nullptr);
    }
  }
}

StopSignal::~StopSignal() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &before[i], nullptr);
  }
}

int StopSignal::came() { return first; }

}  // namespace mishap::program
