#include <mishap/trainer/engine/process_state_torch.h>
#include <mishap/trainer/engine/torch_compat.h>
#include <mishap/trainer/guard/process_state.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <memory>

namespace mishap {
namespace {

class TorchStateKeeper final : public StateKeeper {
 public:
  void restore() override {
    at::Context& context = at::globalContext();
    torch::GradMode::set_enabled(grad_);
    torch::autograd::AnomalyMode::set_enabled(anomaly_, check_nan_);
    if (torch::get_default_dtype() != dtype_) {
      torch::set_default_dtype(dtype_);
    }
    context.setDeterministicAlgorithms(deterministic_, deterministic_warns_);
    context.setDeterministicCuDNN(deterministic_cudnn_);
    context.setBenchmarkCuDNN(benchmark_cudnn_);
    compat::warnings::set_warning_handler(handler_);
    compat::warnings::set_warnAlways(warn_always_);
    if (torch::get_num_threads() != threads_) {
      torch::set_num_threads(threads_);
    }
  }

 private:
  bool grad_ = torch::GradMode::is_enabled();
  bool anomaly_ = torch::autograd::AnomalyMode::is_enabled();
  bool check_nan_ = torch::autograd::AnomalyMode::should_check_nan();
  caffe2::TypeMeta dtype_ = torch::get_default_dtype();
  bool deterministic_ = at::globalContext().deterministicAlgorithms();
  bool deterministic_warns_ =
      at::globalContext().deterministicAlgorithmsWarnOnly();
  bool deterministic_cudnn_ = at::globalContext().deterministicCuDNN();
  bool benchmark_cudnn_ = at::globalContext().benchmarkCuDNN();
  c10::WarningHandler* handler_ = compat::warnings::get_warning_handler();
  bool warn_always_ = compat::warnings::get_warnAlways();
  int threads_ = torch::get_num_threads();
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
