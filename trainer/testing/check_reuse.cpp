#include <mishap/collector/torch/tensor_memory.h>
#include <mishap/trainer/testing/check_reuse.h>
#include <mishap/trainer/testing/trainer_world.h>
#include <torch/torch.h>

#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mishap {
namespace {

// Parameters and buffers as bytes: equal only when every bit is.
std::string weights_of(const Module& module) {
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

void copy_weights(Module& to, const std::string& bytes) {
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
  for (torch::Tensor parameter : to.parameters()) {
    fill(parameter);
  }
  for (torch::Tensor buffer : to.buffers()) {
    fill(buffer);
  }
}

constexpr std::uint64_t kSeed = 1;

HarnessOptions quiet() {
  HarnessOptions options;
  options.capture.report_on_stderr = false;
  options.capture.pending_slot = false;
  return options;
}

class Reuse final : public Checker {
 public:
  explicit Reuse(TrainerWorld& world) : world_(world) {}

  Clause clause() const noexcept override { return Clause::kC11; }

  std::optional<std::string> judge(const Observation&) override {
    const std::string before = weights_of(world_.module());
    // Two fits are alike only from the same random numbers.
    torch::manual_seed(kSeed);
    if (const auto broken = call_again("fit")) {
      return broken;
    }
    const std::string& expected = fit_of_fresh_trainer(before);
    if (weights_of(world_.module()) != expected) {
      return "a fit on the same trainer gives other weights than a fit of a "
             "fresh one";
    }
    for (const std::string_view entry_point : {"validate", "test", "predict"}) {
      if (const auto broken = call_again(entry_point)) {
        return broken;
      }
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> call_again(std::string_view entry_point) {
    try {
      world_.call(entry_point, quiet());
    } catch (const std::exception& error) {
      return std::string(entry_point) +
             " no longer works on the same trainer: " + error.what();
    } catch (...) {
      return std::string(entry_point) + " no longer works on the same trainer";
    }
    return std::nullopt;
  }

  // Worlds are all alike, so a fit is a function of the weights it starts from.
  const std::string& fit_of_fresh_trainer(const std::string& weights) {
    static std::map<std::string, std::string> fits;
    const auto found = fits.find(weights);
    if (found != fits.end()) {
      return found->second;
    }
    const std::unique_ptr<TrainerWorld> fresh = world_.fresh();
    copy_weights(fresh->module(), weights);
    torch::manual_seed(kSeed);
    fresh->call("fit", quiet());
    return fits.emplace(weights, weights_of(fresh->module())).first->second;
  }

  TrainerWorld& world_;
};

// Blocks decide: the C library rounds the size of a block now so, now so.
struct TensorsLeft {
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;

  static TensorsLeft by(const TrainerWorld& world) {
    const collector::TensorMemory now = collector::tensor_memory();
    return {now.live_blocks - world.memory_at_start().live_blocks,
            now.live_bytes - world.memory_at_start().live_bytes};
  }
};

class TensorMemoryKept final : public Checker {
 public:
  explicit TensorMemoryKept(TrainerWorld& world) : world_(world) {}

  Clause clause() const noexcept override { return Clause::kC9; }
  void after() override { left_ = TensorsLeft::by(world_); }

  std::optional<std::string> judge(const Observation& seen) override {
    const TensorsLeft clean = clean_call(seen.entry_point);
    if (left_.blocks > clean.blocks) {
      return std::to_string(left_.blocks - clean.blocks) + " tensors (" +
             std::to_string(left_.bytes - clean.bytes) +
             " bytes) more are alive than after a clean call";
    }
    return std::nullopt;
  }

 private:
  TensorsLeft clean_call(std::string_view entry_point) {
    static std::map<std::string, TensorsLeft, std::less<>> known;
    const auto found = known.find(entry_point);
    if (found != known.end()) {
      return found->second;
    }
    const std::unique_ptr<TrainerWorld> fresh = world_.fresh();
    fresh->call(entry_point, quiet());
    return known.emplace(entry_point, TensorsLeft::by(*fresh)).first->second;
  }

  TrainerWorld& world_;
  TensorsLeft left_;
};

}  // namespace

std::unique_ptr<Checker> check_reuse(TrainerWorld& world) {
  return std::make_unique<Reuse>(world);
}

std::unique_ptr<Checker> check_tensor_memory(TrainerWorld& world) {
  return std::make_unique<TensorMemoryKept>(world);
}

}  // namespace mishap
