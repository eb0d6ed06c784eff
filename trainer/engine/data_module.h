#pragma once

#include <mishap/trainer/engine/batch.h>
#include <mishap/trainer/engine/loader.h>
#include <mishap/trainer/engine/state.h>
#include <mishap/trainer/guard/event.h>
#include <torch/torch.h>

#include <string_view>
#include <vector>

namespace mishap {

/// Owner of the data of all entry points. A loader that is not there is null:
/// fit then skips validation; the other entry points say what is missing.
class DataModule {
 public:
  virtual ~DataModule() = default;

  /// Downloads and unpacks: whatever is done once, not per process.
  virtual void prepare_data() {}
  /// `entry_point` is fit, validate, test or predict.
  virtual void setup(std::string_view /*entry_point*/) {}
  /// Once for every setup or prepare_data that began, however the run ended.
  virtual void teardown() {}
  /// Once for every run that failed or was interrupted, before any cleanup.
  virtual void on_exception(const ErrorEvent&) {}

  /// Called once a call at most; the trainer owns the loader until its end.
  virtual LoaderPtr train_dataloader() { return nullptr; }
  virtual LoaderPtr val_dataloader() { return nullptr; }
  virtual LoaderPtr test_dataloader() { return nullptr; }
  virtual LoaderPtr predict_dataloader() { return nullptr; }

  /// Several loaders of one kind, run one after the other: override these
  /// instead. A step asks session().dataloader_index(); the names of what it
  /// logs end in "/dataloader_idx_<index>".
  virtual std::vector<LoaderPtr> val_dataloaders();
  virtual std::vector<LoaderPtr> test_dataloaders();
  virtual std::vector<LoaderPtr> predict_dataloaders();

  /// Adds to a checkpoint what the data needs to go on from there. The seed
  /// and the position of the loaders are in it already.
  virtual void on_save_checkpoint(State& /*state*/) {}
  /// Takes it back, before the loaders are made.
  virtual void on_load_checkpoint(const State& /*state*/) {}

  /// True when the three hooks below are to be used instead of the module's.
  virtual bool overrides_transfer() const { return false; }
  virtual Batch on_before_batch_transfer(Batch batch) { return batch; }
  virtual Batch transfer_batch_to_device(Batch batch,
                                         const torch::Device& device);
  virtual Batch on_after_batch_transfer(Batch batch) { return batch; }
};

/// Moves every tensor of a batch that is not on `device` already.
Batch to_device(Batch batch, const torch::Device& device);

}  // namespace mishap
