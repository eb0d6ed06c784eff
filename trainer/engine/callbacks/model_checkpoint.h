#pragma once

#include <mishap/trainer/engine/callback.h>
#include <mishap/trainer/engine/callbacks/checkpoint_book.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mishap {

struct ModelCheckpointOptions {
  /// Where the files go; `checkpoints` in the trainer's root_dir when empty.
  std::filesystem::path folder = {};
  /// Name of a file without its ".ckpt". {epoch}, {step} and the name of a
  /// metric in braces stand for their values.
  std::string name = "epoch={epoch}-step={step}";
  /// Metric by which the best are told; the newest are the best when empty.
  std::string monitor = {};
  Better better = Better::kLower;
  /// So many best ones are kept; -1 keeps all, 0 none.
  std::int64_t save_top_k = 1;
  /// Also keeps the newest as last.ckpt.
  bool save_last = false;
  /// Saves after each so many updates; 0: not by steps.
  std::int64_t every_n_train_steps = 0;
  /// Saves at the end of each so many epochs; unset is 1, or 0 (not by epochs)
  /// when it saves by steps.
  std::optional<std::int64_t> every_n_epochs = std::nullopt;
  /// Saves after each validation inside fit instead of at the end of an epoch.
  bool after_validation = false;
  /// When a fit fails or is interrupted, saves the last point from which it can
  /// go on as crash-step=<n>.ckpt. Costs microseconds a step.
  bool save_on_exception = false;
};

/// Saves checkpoints of a fit and keeps the best.
///
/// The book of what is kept changes only when a new file is in place, and it is
/// part of the checkpoint; old files are removed after that. A crash checkpoint
/// is never replaced by another step, removed, or made before there is an
/// update. Does nothing under fast_dev_run and in other entry points.
class ModelCheckpoint final : public Callback {
 public:
  explicit ModelCheckpoint(ModelCheckpointOptions options = {});

  /// Best file so far; empty when there is none.
  std::filesystem::path best_path() const;
  /// Score of the best file; NaN when there is none.
  double best_score() const;
  /// last.ckpt, or empty before it was first saved.
  std::filesystem::path last_path() const;
  /// The file of the last failure; empty when there is none.
  const std::filesystem::path& crash_path() const noexcept { return crash_; }

  bool saves() const override { return true; }
  /// Throws InputError when an option makes no sense or the folder can't be
  /// made.
  void setup(Session& session) override;
  void on_fit_start(Session& session) override;
  void on_train_batch_end(Session& session, const torch::Tensor& loss,
                          const Batch& batch, std::int64_t index) override;
  void on_validation_end(Session& session) override;
  void on_train_epoch_end(Session& session) override;
  void on_exception(const ErrorEvent& event) override;
  void on_save_checkpoint(Session& session, State& state) override;
  void on_load_checkpoint(Session& session, const State& state) override;

 private:
  void check() const;
  bool is_active(Session& session) const;
  std::int64_t epochs_apart() const;
  void save(Session& session);
  void remove_dropped(Session& session);
  void remove(Session& session, const std::string& path) const;
  std::optional<double> score_of(Session& session) const;
  std::filesystem::path path_of(Session& session) const;

  ModelCheckpointOptions options_;
  CheckpointBook book_;
  // What the book will be when the file under way is in place.
  const CheckpointBook* next_book_ = nullptr;
  // No longer in the book, and not removed yet.
  std::vector<std::string> dropped_;
  std::filesystem::path folder_;
  std::filesystem::path crash_;
  std::int64_t saved_step_ = 0;
};

}  // namespace mishap
