#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/InferenceMode.h>
#include <mishap/collector/torch/devices.h>
#include <mishap/collector/torch/tensor_memory.h>
#include <mishap/collector/torch/tensor_summary.h>
#include <mishap/collector/torch/throw_sample.h>
#include <mishap/collector/torch/translators.h>
#include <mishap/collector/torch/warning_collector.h>
#include <mishap/trainer/guard/process_state.h>
#include <mishap/trainer/harness/capture/state_probe.h>
#include <mishap/trainer/harness/torch/torch_state.h>
#include <torch/csrc/autograd/anomaly_mode.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

namespace mishap {
namespace {

std::atomic<BatchSource> batch_source{nullptr};
std::atomic<TrainingFlagSource> training_flag_source{nullptr};

// The collector of the innermost run of this thread.
thread_local collector::WarningCollector* warnings_of_run = nullptr;

// Collects the warnings of one run; gone when the run has restored its state.
class WarningKeeper final : public StateKeeper {
 public:
  WarningKeeper() : outer_(warnings_of_run) {
    warnings_of_run = &collector_;
    const std::lock_guard lock(keepers_mutex);
    next_ = std::exchange(newest, this);
  }
  ~WarningKeeper() override {
    warnings_of_run = outer_;
    const std::lock_guard lock(keepers_mutex);
    WarningKeeper** link = &newest;
    while (*link != this) {
      link = &(*link)->next_;
    }
    *link = next_;
  }
  WarningKeeper(const WarningKeeper&) = delete;
  WarningKeeper& operator=(const WarningKeeper&) = delete;
  void restore() override {}

  // What the innermost run of that thread has; none while somebody comes, goes
  // or warns. From any thread.
  static std::size_t try_copy(
      std::int32_t thread_id,
      std::span<collector::CollectedWarning> out) noexcept {
    const std::unique_lock lock(keepers_mutex, std::try_to_lock);
    if (!lock) {
      return 0;
    }
    for (const WarningKeeper* keeper = newest; keeper != nullptr;
         keeper = keeper->next_) {
      if (keeper->thread_id_ == thread_id) {
        return keeper->collector_.try_copy(out);
      }
    }
    return 0;
  }

 private:
  static inline std::mutex keepers_mutex;
  static inline WarningKeeper* newest = nullptr;

  const std::int32_t thread_id_ = gettid();
  WarningKeeper* next_ = nullptr;
  collector::WarningCollector* outer_;
  collector::WarningCollector collector_;
};

std::unique_ptr<StateKeeper> make_warning_keeper() {
  return std::make_unique<WarningKeeper>();
}

std::string_view default_dtype_name() noexcept {
  const caffe2::TypeMeta type = c10::get_default_dtype();
  if (type == caffe2::TypeMeta::Make<float>()) return "float32";
  if (type == caffe2::TypeMeta::Make<double>()) return "float64";
  if (type == caffe2::TypeMeta::Make<at::Half>()) return "float16";
  if (type == caffe2::TypeMeta::Make<at::BFloat16>()) return "bfloat16";
  return "other";
}

void add_tensor(const char* name, const at::Tensor& tensor, void* data) {
  auto& out = *static_cast<StateSample*>(data);
  if (out.tensor_count == StateSample::kMaxTensors) {
    return;
  }
  const collector::TensorSummary summary = collector::summarize(tensor);
  const std::size_t i = out.tensor_count++;
  const auto dims = std::min<std::size_t>(
      static_cast<std::size_t>(summary.dims), StateSample::kMaxDims);
  out.shapes[i] = summary.shape;
  collector::RecordTensor& record = out.tensors[i];
  record.name = out.keep(name);
  record.shape = {out.shapes[i].data(), dims};
  record.dtype = summary.dtype;
  record.device = out.keep(summary.device.data());
  record.min = summary.min;
  record.max = summary.max;
  record.nan_count = summary.nan_count;
}

class TorchProbe final : public StateProbe {
 public:
  void sample(const Run&, const collector::ExceptionChain& chain,
              StateSample& out) noexcept override {
    sample_modes(chain, out);
    sample_devices(out);
    sample_warnings(out);
    if (const BatchSource source = batch_source.load()) {
      source(add_tensor, &out);
    }
  }

  // Gradients, inference, the training flag and the batch belong to the thread
  // that hangs; the list of the devices takes memory.
  void sample_hang(std::int32_t thread_id, StateSample& out) noexcept override {
    out.modes.anomaly = torch::autograd::AnomalyMode::is_enabled();
    out.modes.deterministic = at::globalContext().deterministicAlgorithms();
    out.modes.default_dtype = default_dtype_name();
    const collector::TensorMemory memory = collector::tensor_memory();
    if (memory.allocations > 0) {
      out.devices[0].name = "cpu";
      out.devices[0].allocated_bytes = memory.live_bytes;
      out.devices[0].peak_bytes = memory.peak_bytes;
      out.device_count = 1;
    }
    std::array<collector::CollectedWarning, StateSample::kMaxWarnings> kept;
    put_in(std::span(kept).first(WarningKeeper::try_copy(thread_id, kept)),
           out);
  }

 private:
  static void sample_modes(const collector::ExceptionChain& chain,
                           StateSample& out) noexcept {
    collector::RecordModes& modes = out.modes;
    modes.grad_enabled = at::GradMode::is_enabled();
    modes.inference_mode = c10::InferenceMode::is_enabled();
    modes.anomaly = torch::autograd::AnomalyMode::is_enabled();
    modes.deterministic = at::globalContext().deterministicAlgorithms();
    modes.default_dtype = default_dtype_name();
    modes.intra_op_threads = at::get_num_threads();
    modes.inter_op_threads = at::get_num_interop_threads();
    if (const TrainingFlagSource source = training_flag_source.load()) {
      const int flag = source();
      if (flag >= 0) {
        modes.training = flag != 0;
      }
    }
    // Unwinding has put the modes of a block back: what held at the throw
    // counts.
    for (const collector::ChainEntry& entry : chain.entries()) {
      if (!entry.site) {
        continue;
      }
      const collector::TorchThrowSample thrown =
          collector::torch_throw_sample(*entry.site);
      if (thrown.taken) {
        modes.grad_enabled = thrown.grad_enabled;
        modes.inference_mode = thrown.inference_mode;
        modes.anomaly = thrown.anomaly;
      }
    }
  }

  static void sample_devices(StateSample& out) noexcept {
    std::array<collector::DeviceState, StateSample::kMaxDevices> devices;
    const std::size_t count = collector::list_devices(devices);
    for (std::size_t i = 0; i < count; ++i) {
      collector::RecordDevice& record = out.devices[i];
      record.name = out.keep(devices[i].name.data());
      record.allocated_bytes = devices[i].allocated;
      record.reserved_bytes = devices[i].reserved;
      record.free_bytes = devices[i].free;
      record.peak_bytes = devices[i].peak;
    }
    out.device_count = count;
  }

  static void sample_warnings(StateSample& out) noexcept {
    if (warnings_of_run == nullptr) {
      return;
    }
    std::array<collector::CollectedWarning, StateSample::kMaxWarnings> kept;
    put_in(std::span(kept).first(warnings_of_run->copy(kept)), out);
  }

  static void put_in(std::span<const collector::CollectedWarning> warnings,
                     StateSample& out) noexcept {
    out.warning_count = 0;
    for (const collector::CollectedWarning& warning : warnings) {
      collector::RecordWarning& record = out.warnings[out.warning_count++];
      record.message = out.keep(warning.message.data());
      record.count = warning.count;
    }
  }
};

}  // namespace

void watch_torch_state() {
  static std::once_flag once;
  std::call_once(once, [] {
    static TorchProbe* const probe = new TorchProbe;
    collector::register_torch_translators();
    collector::install_torch_throw_sampler();
    register_state_probe(*probe);
    register_state_keeper(make_warning_keeper);
  });
}

void set_batch_source(BatchSource source) noexcept { batch_source = source; }

void set_training_flag_source(TrainingFlagSource source) noexcept {
  training_flag_source = source;
}

}  // namespace mishap
