#include <mishap/collector/crash/previous_actions.h>
#include <pthread.h>
#include <ucontext.h>

#include <atomic>

namespace mishap::collector::detail {
namespace {

// In two copies: a handler on another thread reads the one while the other is
// written.
struct Previous {
  std::array<struct sigaction, 2> copies{};
  std::atomic<std::size_t> current{0};
  bool is_installed = false;
};

constinit std::array<Previous, kFatalSignals.size()> previous{};

constinit struct sigaction found_nothing {};

Previous* find(int signal) noexcept {
  for (std::size_t i = 0; i < kFatalSignals.size(); ++i) {
    if (kFatalSignals[i] == signal) {
      return &previous[i];
    }
  }
  return nullptr;
}

bool is(const struct sigaction& action, SignalHandler handler) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == handler;
}

bool is_ignored(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

// The kernel kills by these even where they are ignored.
bool comes_of_instructions(int signal) noexcept {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
         signal == SIGILL;
}

}  // namespace

void install_over_previous(SignalHandler handler) noexcept {
  struct sigaction ours {};
  ours.sa_sigaction = handler;
  // Another fault in the handler comes to the handler; what only asks the
  // process to stop waits.
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigfillset(&ours.sa_mask);
  for (const int signal : kFatalSignals) {
    sigdelset(&ours.sa_mask, signal);
  }
  sigdelset(&ours.sa_mask, SIGALRM);
  for (std::size_t i = 0; i < kFatalSignals.size(); ++i) {
    const int signal = kFatalSignals[i];
    // Asking first would double what a run costs.
    struct sigaction found {};
    if (sigaction(signal, &ours, &found) != 0 || is(found, handler)) {
      continue;
    }
    if (is_ignored(found) && !comes_of_instructions(signal)) {
      sigaction(signal, &found, nullptr);
      continue;
    }
    const std::size_t next = 1 - previous[i].current.load();
    previous[i].copies[next] = found;
    previous[i].current.store(next);
    previous[i].is_installed = true;
  }
}

void give_back_previous(SignalHandler handler) noexcept {
  for (std::size_t i = 0; i < kFatalSignals.size(); ++i) {
    if (!previous[i].is_installed) {
      continue;
    }
    struct sigaction found {};
    sigaction(kFatalSignals[i], &previous[i].copies[previous[i].current.load()],
              &found);
    if (is(found, handler)) {
      previous[i].is_installed = false;
    } else {
      sigaction(kFatalSignals[i], &found, nullptr);
    }
  }
}

struct sigaction previous_action(int signal) noexcept {
  const Previous* const found = find(signal);
  return found == nullptr ? found_nothing
                          : found->copies[found->current.load()];
}

bool is_function(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0
             ? action.sa_sigaction != nullptr
             : action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

void call_function(const struct sigaction& action, int signal, siginfo_t* info,
                   void* context) noexcept {
  sigset_t mask = static_cast<const ucontext_t*>(context)->uc_sigmask;
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &mask, &before);
  mask = action.sa_mask;
  if ((action.sa_flags & SA_NODEFER) == 0) {
    sigaddset(&mask, signal);
  }
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace mishap::collector::detail
