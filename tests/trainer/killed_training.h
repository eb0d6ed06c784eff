#pragma once

#include <mishap/faultinject/hit_trace.h>
#include <mishap/faultinject/scenario.h>
#include <mishap/trainer.h>
#include <mishap/trainer/engine/callbacks/model_checkpoint.h>
#include <mishap/trainer/tasks/digits.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

namespace mishap::checkpoint_test {

inline tasks::DigitsOptions digits(std::uint64_t seed) {
  tasks::DigitsOptions options;
  options.batch_size = 32;
  options.hidden = {24};
  options.training_rows = 256;
  options.validation_rows = 64;
  options.seed = seed;
  return options;
}

// Random numbers in the step, buffers, an optimizer with a state, schedulers.
class DropoutDigits final : public tasks::DigitsModule {
 public:
  explicit DropoutDigits(std::uint64_t seed) : DigitsModule(digits(seed)) {}

  torch::Tensor training_step(const Batch& batch, std::int64_t index) override {
    return DigitsModule::training_step(dropped(batch), index);
  }
  void validation_step(const Batch& batch, std::int64_t index) override {
    DigitsModule::validation_step(dropped(batch), index);
  }
  Optimizers configure_optimizers() override {
    return Optimizers(torch::optim::Adam(parameters(), 0.01))
        .schedule<torch::optim::StepLR>(Optimizers::Every::kStep, 3, 0.95)
        .schedule<torch::optim::StepLR>(Optimizers::Every::kEpoch, 1, 0.9)
        .reduce_on_plateau({.monitor = "loss", .patience = 0});
  }

 private:
  Batch dropped(const Batch& batch) {
    Batch changed = batch;
    changed.data = dropout_(norm_(batch.data));
    return changed;
  }

  torch::nn::BatchNorm1d norm_ =
      register_module("norm", torch::nn::BatchNorm1d(64));
  torch::nn::Dropout dropout_ =
      register_module("dropout", torch::nn::Dropout(0.25));
};

inline std::string bytes_of(const Module& module) {
  std::string bytes;
  for (const auto& tensors : {module.parameters(), module.buffers()}) {
    for (const torch::Tensor& tensor : tensors) {
      const torch::Tensor flat = tensor.detach().contiguous();
      bytes.append(static_cast<const char*>(flat.data_ptr()), flat.nbytes());
    }
  }
  return bytes;
}

inline std::filesystem::path checkpoints_in(
    const std::filesystem::path& folder) {
  return folder / "checkpoints";
}

// Goes on from last.ckpt if there is one; then with other weights and another
// seed than the training began with, all of which the checkpoint has to
// replace.
inline std::string train(const std::filesystem::path& folder, bool saves) {
  const std::filesystem::path last = checkpoints_in(folder) / "last.ckpt";
  const bool resumes = std::filesystem::exists(last);
  DropoutDigits module(resumes ? 2 : 1);
  tasks::DigitsData data(digits(1));
  TrainerOptions options;
  options.max_epochs = 5;
  options.num_sanity_val_steps = 1;
  options.seed = resumes ? 99 : 7;
  options.root_dir = folder;
  if (saves) {
    options.callbacks = {std::make_shared<ModelCheckpoint>(
        ModelCheckpointOptions{.monitor = "loss",
                               .save_top_k = 2,
                               .save_last = true,
                               .every_n_train_steps = 2})};
  }
  HarnessOptions harness;
  harness.capture.records = folder / "records";
  Trainer(options, harness)
      .fit(module, data, resumes ? last : std::filesystem::path());
  return bytes_of(module);
}

// -- the process that trains -------------------------------------------------

// No write takes more, so that kills also come between the parts of a file.
inline constexpr const char* kShortWrites = "io/checkpoint/write=short(8000)";

inline void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// `mode` is the hit that kills, "uncut", "count", or "bare" for a training that
// saves nothing.
inline int run_child(const std::filesystem::path& folder,
                     const std::string& mode) {
  torch::set_num_threads(1);
  std::optional<faultinject::HitTrace> trace;
  std::string plan = kShortWrites;
  if (mode == "count") {
    trace.emplace();
  } else if (mode != "uncut" && mode != "bare") {
    plan = "**=" + mode + "*off->1*signal(SIGKILL); " + plan;
  }
  const auto faults = faultinject::arm(faultinject::Plan::parse(plan));
  write(folder / "weights", train(folder, mode != "bare"));
  if (trace) {
    std::string names;
    for (const faultinject::PointId point : trace->sequence()) {
      names += std::string(faultinject::name_of(point)) + '\n';
    }
    write(folder / "hits", names);
    return trace->overflowed() ? 1 : 0;
  }
  return 0;
}

}  // namespace mishap::checkpoint_test
