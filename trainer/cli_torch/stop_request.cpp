#include <mishap/trainer/cli_torch/stop_request.h>
#include <unistd.h>

#include <atomic>
#include <utility>

namespace mishap::app {
namespace {

std::atomic<int> stopped_by{0};

void note(int signal, siginfo_t* info, void*) {
  if (info->si_pid != getpid()) {
    stopped_by.store(signal, std::memory_order_relaxed);
  }
}

void listen(int signal, struct sigaction* previous) noexcept {
  struct sigaction action {};
  action.sa_sigaction = note;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(signal, &action, previous);
}

}  // namespace

StopRequest::StopRequest() noexcept {
  listen(SIGINT, &interrupt_);
  listen(SIGTERM, &terminate_);
}

StopRequest::~StopRequest() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
}

int StopRequest::signal() noexcept {
  return stopped_by.load(std::memory_order_relaxed);
}

WorldFactory StopRequest::listening(WorldFactory make_world) {
  return [make_world = std::move(make_world)] {
    listen(SIGINT, nullptr);
    listen(SIGTERM, nullptr);
    return make_world();
  };
}

}  // namespace mishap::app
