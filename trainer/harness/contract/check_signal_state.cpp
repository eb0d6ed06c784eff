#include <mishap/trainer/harness/contract/checkers.h>
#include <pthread.h>
#include <signal.h>

#include <array>
#include <cstring>

namespace mishap {
namespace {

constexpr int kLastSignal = 31;

struct SignalState {
  std::array<struct sigaction, kLastSignal + 1> actions{};
  sigset_t mask{};

  static SignalState now() {
    SignalState state;
    for (int signal = 1; signal <= kLastSignal; ++signal) {
      sigaction(signal, nullptr, &state.actions[static_cast<size_t>(signal)]);
    }
    pthread_sigmask(SIG_SETMASK, nullptr, &state.mask);
    return state;
  }
};

bool same_action(const struct sigaction& a, const struct sigaction& b) {
  if (a.sa_flags != b.sa_flags || a.sa_handler != b.sa_handler) {
    return false;
  }
  for (int signal = 1; signal <= kLastSignal; ++signal) {
    if (sigismember(&a.sa_mask, signal) != sigismember(&b.sa_mask, signal)) {
      return false;
    }
  }
  return true;
}

class SignalStateKept final : public Checker {
 public:
  Clause clause() const noexcept override { return Clause::kC7; }
  void before() override { before_ = SignalState::now(); }
  void after() override { after_ = SignalState::now(); }

  std::optional<std::string> judge(const Observation&) override {
    for (int signal = 1; signal <= kLastSignal; ++signal) {
      const auto i = static_cast<std::size_t>(signal);
      const std::string name = std::string("SIG") + sigabbrev_np(signal);
      if (!same_action(before_.actions[i], after_.actions[i])) {
        return "the action of " + name + " is another one than before";
      }
      if (sigismember(&before_.mask, signal) !=
          sigismember(&after_.mask, signal)) {
        return name + " is blocked otherwise than before";
      }
    }
    return std::nullopt;
  }

 private:
  SignalState before_;
  SignalState after_;
};

}  // namespace

std::unique_ptr<Checker> check_signal_state() {
  return std::make_unique<SignalStateKept>();
}

}  // namespace mishap
