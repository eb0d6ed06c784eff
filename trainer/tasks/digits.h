#pragma once

#include <mishap/trainer/engine/data_module.h>
#include <mishap/trainer/engine/module.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace mishap::tasks {

/// How the handwritten digits are learned.
struct DigitsOptions {
  /// digits.csv; found as find_data() says when empty.
  std::filesystem::path data = {};
  std::int64_t epochs = 40;
  std::int64_t batch_size = 32;
  double learning_rate = 0.1;
  /// Outputs of each hidden layer.
  std::vector<std::int64_t> hidden = {128, 64};
  /// Digits that the model can name. With fewer than 10 the first label beyond
  /// them fails inside LibTorch.
  std::int64_t classes = 10;
  /// Threads that prepare batches.
  std::int64_t workers = 0;
  /// Seeds the initial weights; unset takes the generator as it is.
  std::optional<std::uint64_t> seed = std::nullopt;
  /// Rows used of each part of the data; all when unset.
  std::optional<std::int64_t> training_rows = std::nullopt;
  std::optional<std::int64_t> validation_rows = std::nullopt;
  std::optional<std::int64_t> test_rows = std::nullopt;
};

/// The same task at its smallest, for sweeps: two training batches, one of each
/// other kind, one narrow hidden layer, two epochs.
DigitsOptions tiny_digits();

/// A perceptron that names the digit in an 8×8 image. Logs loss and accuracy.
class DigitsModule : public Module {
 public:
  explicit DigitsModule(const DigitsOptions& options = {});

  /// One row of scores for each image.
  torch::Tensor forward(torch::Tensor images);

  torch::Tensor training_step(const Batch& batch, std::int64_t index) override;
  void validation_step(const Batch& batch, std::int64_t index) override;
  void test_step(const Batch& batch, std::int64_t index) override;
  /// The digit in each image.
  torch::Tensor predict_step(const Batch& batch, std::int64_t index) override;
  Optimizers configure_optimizers() override;

 private:
  torch::Tensor score(const Batch& batch);

  double learning_rate_;
  std::vector<torch::nn::Linear> layers_;
};

struct DigitTensors;

/// The digits in memory: read once for the process, as long as the file does
/// not change.
class DigitsData : public DataModule {
 public:
  explicit DigitsData(DigitsOptions options = {});

  /// Throws InputError naming file, row and column of the first defect.
  void prepare_data() override;
  void setup(std::string_view entry_point) override;
  void teardown() override;

  LoaderPtr train_dataloader() override;
  LoaderPtr val_dataloader() override;
  LoaderPtr test_dataloader() override;
  /// The images of the test part, without labels.
  LoaderPtr predict_dataloader() override;

 private:
  struct Part {
    torch::Tensor images;
    torch::Tensor labels;
  };

  LoaderPtr load(const Part& part, bool shuffle) const;

  DigitsOptions options_;
  std::shared_ptr<const DigitTensors> tensors_;
  Part training_;
  Part validation_;
  Part test_;
};

}  // namespace mishap::tasks
