#include <mishap/trainer/guard/signals.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

namespace mishap::signals {
namespace {

constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};
constexpr std::size_t kSlots = 64;
// A terminal and a forwarding parent send the same request twice.
constexpr std::int64_t kSameRequestNanos = 1'000'000'000;

struct Slot {
  std::atomic<bool> used{false};
  std::atomic<std::uint32_t> arrived_at_entry{0};
  PackedPlace place;
  PackedPlace place_at_signal;
};

// An action in two copies: a handler on another thread reads the one while the
// other is written.
class SharedAction {
 public:
  struct sigaction get() const noexcept {
    return copies_[current_.load()];
  }
  void set(const struct sigaction& action) noexcept {
    const std::size_t next = 1 - current_.load();
    copies_[next] = action;
    current_.store(next);
  }

 private:
  std::array<struct sigaction, 2> copies_{};
  std::atomic<std::size_t> current_{0};
};

struct Installation {
  // What our handler hands on to.
  SharedAction previous;
  // The same between runs, when an outside action keeps our handler there.
  struct sigaction under_outside {};
  // The outermost run put our handler over `previous`, which it gives back.
  bool by_run = false;
};

struct Registry {
  std::mutex mutex;
  std::array<Slot, kSlots> slots;
  std::array<Installation, kSignals.size()> installations;
  std::atomic<pid_t> owner{0};
  std::atomic<std::size_t> seats{0};
  std::atomic<std::uint32_t> answered{0};
  // The newest one that a handler of the program was told of.
  std::atomic<std::uint32_t> passed_on{0};
  std::atomic<std::int64_t> first_nanos{0};
  std::atomic<int> signal{0};
  std::atomic<int> code{0};
  std::atomic<pid_t> sender{0};
  std::atomic<OutsideAction> outside{nullptr};
  std::atomic<ArrivalAction> at_arrival{nullptr};
};

// Constant-initialised and trivially destructible in effect: the handler may
// run before main and after it.
constinit Registry registry;

std::int64_t now_nanos() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

std::size_t index_of(int signal) noexcept {
  return signal == kSignals[0] ? 0 : 1;
}

void unblock(int signal) noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

[[noreturn]] void die_by(int signal) noexcept {
  struct sigaction fallback {};
  fallback.sa_handler = SIG_DFL;
  sigaction(signal, &fallback, nullptr);
  unblock(signal);
  raise(signal);
  // Only PID 1 gets here: the kernel ignores its default actions.
  _exit(128 + signal);
}

bool belongs_to_an_answered_run(std::uint32_t arrived) noexcept {
  for (const Slot& slot : registry.slots) {
    if (slot.used.load() && slot.arrived_at_entry.load() != arrived) {
      return true;
    }
  }
  return false;
}

void raise_unanswered() noexcept {
  const std::uint32_t arrived = detail::arrived.load();
  std::uint32_t answered = registry.answered.load();
  if (answered != arrived &&
      registry.answered.compare_exchange_strong(answered, arrived) &&
      registry.passed_on.load() != arrived) {
    raise(registry.signal.load());
  }
}

bool is_handler(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

// Where on this thread's stack our handler called the program's own. Kept as an
// address, since a handler may leave by siglongjmp().
constinit thread_local const char* passing_on_from = nullptr;

bool is_called_back() noexcept {
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  return passing_on_from != nullptr && here < passing_on_from;
}

void pass_on(const struct sigaction& action, int signal, siginfo_t* info,
             void* context) noexcept {
  passing_on_from = static_cast<const char*>(__builtin_frame_address(0));
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
  passing_on_from = nullptr;
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const struct sigaction before =
      registry.installations[index_of(signal)].previous.get();
  if (getpid() != registry.owner.load()) {
    // A forked child has no run: the signal does what it did without us.
    sigaction(signal, &before, nullptr);
    raise(signal);
    errno = saved_errno;
    return;
  }
  if (is_called_back()) {
    // A handler that was installed over ours, and under it again, chains back.
    if (registry.seats.load() == 0) {
      die_by(signal);
    }
    return;
  }
  const std::int64_t now = now_nanos();
  const Received received{signal, info->si_code,
                          info->si_code > 0 ? 0 : info->si_pid, now};
  if (registry.seats.load() == 0) {
    if (const OutsideAction outside = registry.outside.load()) {
      outside(received);
    }
    // Code that saved our handler during a run put it back afterwards. Raising
    // again would only lead back here.
    if (is_handler(before)) {
      pass_on(before, signal, info, context);
    } else if (before.sa_handler == SIG_DFL) {
      die_by(signal);
    }
    errno = saved_errno;
    return;
  }
  const std::uint32_t arrived = detail::arrived.load();
  if (belongs_to_an_answered_run(arrived)) {
    if (now - registry.first_nanos.load() > kSameRequestNanos) {
      die_by(signal);
    }
  } else {
    registry.first_nanos.store(now);
    registry.signal.store(signal);
    registry.code.store(received.code);
    registry.sender.store(received.sender);
    for (Slot& slot : registry.slots) {
      slot.place_at_signal.copy_from(slot.place);
    }
    const bool is_heard = is_handler(before);
    if (is_heard) {
      registry.passed_on.store(arrived + 1);
    }
    detail::arrived.fetch_add(1);
    if (const ArrivalAction action = registry.at_arrival.load()) {
      action(received);
    }
    if (is_heard) {
      pass_on(before, signal, info, context);
    }
    if (registry.seats.load() == 0) {
      // Another thread gave the last seat back while this handler ran.
      raise_unanswered();
    }
  }
  errno = saved_errno;
}

bool is_ours(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 &&
         action.sa_sigaction == on_signal;
}

// Puts our handler over what is there; false where it is already, or where the
// signal is ignored and stays so.
bool install(int signal, SharedAction& previous) noexcept {
  struct sigaction current {};
  sigaction(signal, nullptr, &current);
  const bool is_ignored =
      (current.sa_flags & SA_SIGINFO) == 0 && current.sa_handler == SIG_IGN;
  if (is_ignored || is_ours(current)) {
    return false;
  }
  previous.set(current);
  struct sigaction ours {};
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&ours.sa_mask);
  for (const int other : kSignals) {
    sigaddset(&ours.sa_mask, other);
  }
  return sigaction(signal, &ours, nullptr) == 0;
}

void install_for_runs() noexcept {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    Installation& installation = registry.installations[i];
    installation.by_run = install(kSignals[i], installation.previous);
  }
}

void install_for_good() noexcept {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    Installation& installation = registry.installations[i];
    install(kSignals[i], installation.previous);
    installation.under_outside = installation.previous.get();
    installation.by_run = false;
  }
}

void give_back_handlers() noexcept {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    Installation& installation = registry.installations[i];
    if (!std::exchange(installation.by_run, false)) {
      continue;
    }
    struct sigaction current {};
    sigaction(kSignals[i], nullptr, &current);
    // Somebody who installed a handler of his own during the run keeps it.
    if (is_ours(current)) {
      const struct sigaction found = installation.previous.get();
      sigaction(kSignals[i], &found, nullptr);
    }
    if (registry.outside.load() != nullptr) {
      installation.previous.set(installation.under_outside);
    }
  }
}

}  // namespace

void Seat::enter(const Seat* parent) noexcept {
  if (entered_) {
    return;
  }
  const std::lock_guard lock(registry.mutex);
  const std::uint32_t seen = parent != nullptr && parent->entered_
                                 ? parent->seen_.load()
                                 : detail::arrived.load();
  seen_.store(seen);
  for (std::size_t i = 0; i < kSlots; ++i) {
    Slot& slot = registry.slots[i];
    if (!slot.used.load()) {
      slot.arrived_at_entry.store(seen);
      slot.place.store({});
      shown_ = &slot.place;
      slot.used.store(true);
      slot_ = static_cast<std::int8_t>(i);
      break;
    }
  }
  entered_ = true;
  registry.owner.store(getpid());
  if (registry.seats.fetch_add(1) == 0) {
    install_for_runs();
  }
}

void Seat::leave() noexcept {
  if (!entered_) {
    return;
  }
  {
    const std::lock_guard lock(registry.mutex);
    if (slot_ >= 0) {
      registry.slots[static_cast<std::size_t>(slot_)].used.store(false);
      slot_ = -1;
      shown_ = nullptr;
    }
    entered_ = false;
    // The handlers go first: one that finds no seat takes the signal for
    // somebody else's.
    const bool last = registry.seats.load() == 1;
    if (last) {
      give_back_handlers();
    }
    registry.seats.fetch_sub(1);
    if (!last) {
      return;
    }
  }
  raise_unanswered();
}

std::optional<Received> Seat::waiting() const noexcept {
  if (!pending()) {
    return std::nullopt;
  }
  return Received{registry.signal.load(), registry.code.load(),
                  registry.sender.load(), registry.first_nanos.load()};
}

Received Seat::honour() noexcept {
  const std::uint32_t arrived = detail::arrived.load();
  seen_.store(arrived);
  registry.answered.store(arrived);
  return {registry.signal.load(), registry.code.load(), registry.sender.load(),
          registry.first_nanos.load()};
}

std::optional<Place> Seat::place() const noexcept {
  return shown_ == nullptr ? std::nullopt : std::optional(shown_->load());
}

Place Seat::place_at_signal() const noexcept {
  if (slot_ < 0) {
    return {};
  }
  return registry.slots[static_cast<std::size_t>(slot_)].place_at_signal.load();
}

bool install_outside_action(OutsideAction action) noexcept {
  const std::lock_guard lock(registry.mutex);
  OutsideAction none = nullptr;
  if (!registry.outside.compare_exchange_strong(none, action)) {
    return false;
  }
  registry.owner.store(getpid());
  install_for_good();
  return true;
}

void set_arrival_action(ArrivalAction action) noexcept {
  registry.at_arrival.store(action);
}

std::size_t seats_held() noexcept { return registry.seats.load(); }

const char* name(int signal) noexcept {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    default:
      return "another signal";
  }
}

}  // namespace mishap::signals
