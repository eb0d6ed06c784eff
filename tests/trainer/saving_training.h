#pragma once

#include <mishap/faultinject/hit_trace.h>
#include <mishap/trainer.h>
#include <mishap/trainer/engine/callbacks/model_checkpoint.h>
#include <mishap/trainer/tasks/digits.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>

#include "memory_folder.h"

namespace mishap::checkpoint_test {

/// Names and contents.
using Files = std::map<std::string, std::string>;

inline std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline Files files_in(const std::filesystem::path& folder) {
  Files files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files[entry.path().filename()] = read(entry.path());
  }
  return files;
}

inline double score_of(std::int64_t epoch) { return 1.0 / (1.0 + epoch); }

inline tasks::DigitsOptions digits() {
  tasks::DigitsOptions options = tasks::tiny_digits();
  options.seed = 1;
  return options;
}

/// Every epoch is better than the one before.
class ScoredDigits final : public tasks::DigitsModule {
 public:
  ScoredDigits() : DigitsModule(digits()) {}
  torch::Tensor training_step(const Batch& batch, std::int64_t index) override {
    log("score", score_of(Session::current()->place().epoch));
    return DigitsModule::training_step(batch, index);
  }
};

inline std::string weights_of(const Module& module) {
  std::string bytes;
  for (const torch::Tensor& tensor : module.parameters()) {
    const torch::Tensor flat = tensor.detach().contiguous();
    bytes.append(static_cast<const char*>(flat.data_ptr()), flat.nbytes());
  }
  return bytes;
}

/// What there was before the save that is failed.
class BeforeLastEpoch final : public Callback {
 public:
  void on_train_epoch_start(Session& session) override {
    if (session.place().epoch == 1) {
      files = files_in(session.options().root_dir / "checkpoints");
      hits = trace == nullptr ? 0 : trace->sequence().size();
    }
  }

  const faultinject::HitTrace* trace = nullptr;
  Files files;
  std::size_t hits = 0;
};

/// A trainer with two epochs, and what it leaves.
class Training {
 public:
  std::string fit() {
    ScoredDigits module;
    tasks::DigitsData data(digits());
    trainer_.fit(module, data);
    return weights_of(module);
  }

  BeforeLastEpoch& before() { return *before_; }
  const ModelCheckpoint& keeper() const { return *keeper_; }
  std::filesystem::path checkpoints() const { return folder_ / "checkpoints"; }
  std::string records() const { return read(folder_ / "records.jsonl"); }

 private:
  TrainerOptions options() const {
    TrainerOptions options;
    options.max_epochs = 2;
    options.num_sanity_val_steps = 0;
    options.seed = 7;
    options.root_dir = folder_;
    options.callbacks = {before_, keeper_};
    return options;
  }
  HarnessOptions harness() const {
    HarnessOptions harness;
    harness.capture.records = folder_;
    harness.capture.caps = collector::RecordCaps::none();
    harness.capture.report_on_stderr = false;
    return harness;
  }

  const testing::TempFolder temporary_ = testing::memory_folder();
  const std::filesystem::path folder_ = temporary_.path();
  std::shared_ptr<BeforeLastEpoch> before_ =
      std::make_shared<BeforeLastEpoch>();
  std::shared_ptr<ModelCheckpoint> keeper_ =
      std::make_shared<ModelCheckpoint>(ModelCheckpointOptions{
          .name = "epoch={epoch}", .monitor = "score", .save_last = true});
  Trainer trainer_{options(), harness()};
};

}  // namespace mishap::checkpoint_test
