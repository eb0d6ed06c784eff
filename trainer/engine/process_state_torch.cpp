#include <c10/core/AutogradState.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <mishap/trainer/engine/process_state_torch.h>
#include <mishap/trainer/engine/torch_compat.h>
#include <mishap/trainer/guard/process_state.h>
#include <mishap/trainer/guard/run.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <memory>
#include <mutex>
#include <optional>

namespace mishap {
namespace {

/// What the whole process shares.
struct SharedFlags {
  bool anomaly = torch::autograd::AnomalyMode::is_enabled();
  bool check_nan = torch::autograd::AnomalyMode::should_check_nan();
  caffe2::TypeMeta dtype = torch::get_default_dtype();
  bool deterministic = at::globalContext().deterministicAlgorithms();
  bool deterministic_warns =
      at::globalContext().deterministicAlgorithmsWarnOnly();
  bool deterministic_cudnn = at::globalContext().deterministicCuDNN();
  bool benchmark_cudnn = at::globalContext().benchmarkCuDNN();
  bool warn_always = compat::warnings::get_warnAlways();

  void set() const {
    at::Context& context = at::globalContext();
    torch::autograd::AnomalyMode::set_enabled(anomaly, check_nan);
    if (torch::get_default_dtype() != dtype) {
      torch::set_default_dtype(dtype);
    }
    context.setDeterministicAlgorithms(deterministic, deterministic_warns);
    context.setDeterministicCuDNN(deterministic_cudnn);
    context.setBenchmarkCuDNN(benchmark_cudnn);
    compat::warnings::set_warnAlways(warn_always);
  }
};

/// Runs on several threads share the flags: the first one saves them, the last
/// one sets them back, so that no run takes from another what it asked for.
class OutermostRuns {
 public:
  void enter() {
    const std::lock_guard lock(mutex_);
    if (runs_++ == 0) {
      before_.emplace();
    }
  }
  void leave(bool restores) {
    const std::lock_guard lock(mutex_);
    if (--runs_ == 0 && restores) {
      before_->set();
    }
  }

 private:
  std::mutex mutex_;
  int runs_ = 0;
  std::optional<SharedFlags> before_;
};

OutermostRuns& outermost_runs() {
  static auto* const runs = new OutermostRuns;
  return *runs;
}

class TorchStateKeeper final : public StateKeeper {
 public:
  TorchStateKeeper() {
    const Run* const run = Run::current();
    if (run != nullptr && run->parent() != nullptr) {
      // On the thread of the outer run: what that one set has to come back.
      nested_.emplace();
    } else {
      outermost_runs().enter();
      entered_ = true;
    }
  }
  ~TorchStateKeeper() override {
    if (entered_) {
      outermost_runs().leave(/*restores=*/false);
    }
  }
  TorchStateKeeper(const TorchStateKeeper&) = delete;
  TorchStateKeeper& operator=(const TorchStateKeeper&) = delete;

  void restore() override {
    // Gradient and inference mode with what they do to dispatch.
    c10::AutogradState::set_tls_state(autograd_);
    c10::impl::_force_tls_local_dispatch_key_set(dispatch_);
    compat::warnings::set_warning_handler(handler_);
    if (torch::get_num_threads() != threads_) {
      torch::set_num_threads(threads_);
    }
    if (nested_) {
      nested_->set();
    } else if (entered_) {
      entered_ = false;
      outermost_runs().leave(/*restores=*/true);
    }
  }

 private:
  c10::AutogradState autograd_ = c10::AutogradState::get_tls_state();
  c10::impl::LocalDispatchKeySet dispatch_ =
      c10::impl::tls_local_dispatch_key_set();
  c10::WarningHandler* handler_ = compat::warnings::get_warning_handler();
  int threads_ = torch::get_num_threads();
  std::optional<SharedFlags> nested_;
  bool entered_ = false;
};

std::unique_ptr<StateKeeper> make_torch_state_keeper() {
  return std::make_unique<TorchStateKeeper>();
}

}  // namespace

void keep_torch_state() {
  [[maybe_unused]] static const bool registered = [] {
    register_state_keeper(make_torch_state_keeper);
    return true;
  }();
}

}  // namespace mishap
