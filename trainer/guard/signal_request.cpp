#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/guard/signal_request.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <string>
#include <system_error>

namespace mishap {
namespace {

constexpr std::size_t kSignals = 65;
constexpr std::array kOfACrash = {SIGABRT, SIGBUS, SIGFPE, SIGILL,
                                  SIGSEGV, SIGSYS, SIGTRAP};

using InfoHandler = void (*)(int, siginfo_t*, void*);
using PlainHandler = void (*)(int);

struct Installation {
  std::size_t users = 0;
  struct sigaction previous {};
  // The function of `previous`, for the handler; one of the two or none.
  std::atomic<InfoHandler> info{nullptr};
  std::atomic<PlainHandler> plain{nullptr};
  std::atomic<std::uint32_t> arrived{0};
  // A forked child has the handler of its parent and nobody to ask.
  std::atomic<pid_t> owner{0};
};

// Constant-initialised and never destroyed in effect: the handler may run
// before main and after it.
constinit std::array<Installation, kSignals> installations;
constinit std::mutex installations_mutex;
static_assert(std::atomic<InfoHandler>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// Where on this thread's stack our handler called the program's own, for each
// signal. Kept as an address, since a handler may leave by siglongjmp().
[[gnu::tls_model(
    "initial-exec")]] constinit thread_local std::array<const char*, kSignals>
    handing_on_from{};

void on_request(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const auto index = static_cast<std::size_t>(signal);
  const char*& from = handing_on_from[index];
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  if (from != nullptr && here < from) {
    // A handler that was installed over ours, and under it again, chains back.
    return;
  }
  Installation& installation = installations[index];
  if (installation.owner.load() == getpid()) {
    installation.arrived.fetch_add(1);
  }
  from = here;
  if (const InfoHandler handler = installation.info.load()) {
    handler(signal, info, context);
  } else if (const PlainHandler plain = installation.plain.load()) {
    plain(signal);
  }
  from = nullptr;
  errno = saved_errno;
}

bool is_ours(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 &&
         action.sa_sigaction == on_request;
}

void check(int signal) {
  const std::string number = std::to_string(signal);
  if (signal < 1 || signal > SIGRTMAX || signal >= static_cast<int>(kSignals) ||
      (signal > SIGSYS && signal < SIGRTMIN)) {
    throw InputError("a request by signal " + number +
                     ": there is no such signal for programs, use SIGUSR1, "
                     "SIGUSR2 or SIGHUP");
  }
  const char* const abbreviation = sigabbrev_np(signal);
  const std::string name =
      abbreviation == nullptr ? number : "SIG" + std::string(abbreviation);
  const auto refuse = [&](const std::string& why) {
    throw InputError("a request by " + name + ": " + why +
                     ", use SIGUSR1, SIGUSR2 or SIGHUP");
  };
  if (signal == SIGINT || signal == SIGTERM) {
    refuse("it asks a run to end");
  }
  if (signal == SIGKILL || signal == SIGSTOP) {
    refuse("no program can catch it");
  }
  if (std::find(kOfACrash.begin(), kOfACrash.end(), signal) !=
      kOfACrash.end()) {
    refuse("it is the signal of a crash");
  }
}

void remember(Installation& installation, const struct sigaction& previous) {
  installation.previous = previous;
  const bool takes_info = (previous.sa_flags & SA_SIGINFO) != 0;
  const bool is_function = takes_info || (previous.sa_handler != SIG_DFL &&
                                          previous.sa_handler != SIG_IGN);
  installation.info.store(takes_info ? previous.sa_sigaction : nullptr);
  installation.plain.store(is_function && !takes_info ? previous.sa_handler
                                                      : nullptr);
}

void install(int signal, Installation& installation) {
  struct sigaction previous {};
  if (sigaction(signal, nullptr, &previous) != 0) {
    throw std::system_error(errno, std::generic_category(), "sigaction");
  }
  if (is_ours(previous)) {
    // Put back by code that had saved it: what was before is known.
    return;
  }
  remember(installation, previous);
  struct sigaction ours {};
  ours.sa_sigaction = on_request;
  // The previous handler runs as it would without us.
  ours.sa_flags = SA_SIGINFO | SA_RESTART | (previous.sa_flags & SA_ONSTACK);
  ours.sa_mask = previous.sa_mask;
  if (sigaction(signal, &ours, nullptr) != 0) {
    throw std::system_error(errno, std::generic_category(), "sigaction");
  }
}

}  // namespace

SignalRequest::SignalRequest(int signal) : signal_(signal) {
  check(signal);
  Installation& installation = installations[static_cast<std::size_t>(signal)];
  const std::lock_guard lock(installations_mutex);
  arrived_ = &installation.arrived;
  taken_ = arrived_->load();
  installation.owner.store(getpid());
  if (installation.users == 0) {
    install(signal, installation);
  }
  ++installation.users;
}

SignalRequest::~SignalRequest() {
  Installation& installation = installations[static_cast<std::size_t>(signal_)];
  const std::lock_guard lock(installations_mutex);
  if (--installation.users > 0) {
    return;
  }
  struct sigaction current {};
  sigaction(signal_, nullptr, &current);
  if (is_ours(current)) {
    sigaction(signal_, &installation.previous, nullptr);
  }
}

bool SignalRequest::take() noexcept {
  const std::uint32_t arrived = arrived_->load(std::memory_order_relaxed);
  if (arrived == taken_) {
    return false;
  }
  taken_ = arrived;
  return true;
}

}  // namespace mishap
