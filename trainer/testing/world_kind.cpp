#include <mishap/trainer/testing/trainer_world.h>
#include <mishap/trainer/testing/world_kind.h>
#include <torch/torch.h>

#include <algorithm>
#include <utility>

namespace mishap {
namespace {

constexpr std::uint64_t kSeed = 1;

void set_weights(Module& module, const std::string& bytes) {
  const torch::NoGradGuard no_grad;
  std::size_t offset = 0;
  const auto fill = [&](torch::Tensor tensor) {
    torch::Tensor flat =
        torch::empty_like(tensor, torch::MemoryFormat::Contiguous);
    std::copy_n(bytes.data() + offset, flat.nbytes(),
                static_cast<char*>(flat.data_ptr()));
    offset += flat.nbytes();
    tensor.copy_(flat);
  };
  for (torch::Tensor parameter : module.parameters()) {
    fill(parameter);
  }
  for (torch::Tensor buffer : module.buffers()) {
    fill(buffer);
  }
}

}  // namespace

std::string weight_bytes(const Module& module) {
  std::string bytes;
  const auto add = [&](const torch::Tensor& tensor) {
    const torch::Tensor flat = tensor.detach().contiguous();
    bytes.append(static_cast<const char*>(flat.data_ptr()), flat.nbytes());
  };
  for (const torch::Tensor& parameter : module.parameters()) {
    add(parameter);
  }
  for (const torch::Tensor& buffer : module.buffers()) {
    add(buffer);
  }
  return bytes;
}

HarnessOptions quiet_options() {
  HarnessOptions options;
  options.capture.report_on_stderr = false;
  options.capture.writes = false;
  // As in a case: nobody waits for these runs, so no thread watches them.
  options.guard.on_overtime = nullptr;
  return options;
}

void seed_fit() { torch::manual_seed(kSeed); }

WorldKind::WorldKind(PartsFactory make_parts, std::vector<CallbackFactory> more)
    : make_parts_(std::move(make_parts)), more_(std::move(more)) {}

std::unique_ptr<TrainerWorld> WorldKind::fresh() {
  return std::make_unique<TrainerWorld>(shared_from_this());
}

const std::exception_ptr& WorldKind::refusal(std::string_view entry_point) {
  const auto found = refusals_.find(entry_point);
  if (found != refusals_.end()) {
    return found->second;
  }
  std::exception_ptr refusal;
  try {
    fresh()->call(entry_point, quiet_options());
  } catch (...) {
    refusal = std::current_exception();
  }
  return refusals_.emplace(entry_point, std::move(refusal)).first->second;
}

TensorsLeft WorldKind::left_by(std::string_view entry_point) {
  const auto found = left_.find(entry_point);
  if (found != left_.end()) {
    return found->second;
  }
  const std::unique_ptr<TrainerWorld> world = fresh();
  world->call(entry_point, quiet_options());
  return left_.emplace(entry_point, world->tensors_left()).first->second;
}

// Worlds are all alike, so a fit is a function of the weights it starts from.
const std::string& WorldKind::fit_from(const std::string& weights) {
  const auto found = fits_.find(weights);
  if (found != fits_.end()) {
    return found->second;
  }
  const std::unique_ptr<TrainerWorld> world = fresh();
  set_weights(world->module(), weights);
  seed_fit();
  world->call("fit", quiet_options());
  return fits_.emplace(weights, weight_bytes(world->module())).first->second;
}

}  // namespace mishap
