#include <mishap/trainer/guard/process_state.h>
#include <signal.h>

#include <mutex>

namespace mishap {
namespace {

class SignalMaskKeeper final : public StateKeeper {
 public:
  SignalMaskKeeper() { pthread_sigmask(SIG_SETMASK, nullptr, &mask_); }
  void restore() override { pthread_sigmask(SIG_SETMASK, &mask_, nullptr); }

 private:
  sigset_t mask_{};
};

std::unique_ptr<StateKeeper> make_signal_mask_keeper() {
  return std::make_unique<SignalMaskKeeper>();
}

struct Factories {
  std::mutex mutex;
  std::vector<StateKeeperFactory> list{make_signal_mask_keeper};
};

Factories& factories() {
  static Factories* const instance = new Factories;
  return *instance;
}

}  // namespace

void register_state_keeper(StateKeeperFactory factory) {
  Factories& all = factories();
  const std::lock_guard lock(all.mutex);
  all.list.push_back(factory);
}

std::vector<std::unique_ptr<StateKeeper>> make_state_keepers() {
  Factories& all = factories();
  const std::lock_guard lock(all.mutex);
  std::vector<std::unique_ptr<StateKeeper>> keepers;
  keepers.reserve(all.list.size());
  for (const StateKeeperFactory factory : all.list) {
    keepers.push_back(factory());
  }
  return keepers;
}

}  // namespace mishap
