#include <mishap/faultinject/fault_point.h>
#include <mishap/trainer/engine/make_loader.h>
#include <mishap/trainer/engine/tensor_loader.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/tasks/digit_tensors.h>
#include <mishap/trainer/tasks/digits.h>
#include <mishap/trainer/tasks/find_data.h>

#include <string>
#include <utility>

namespace mishap::tasks {
namespace {

/// Rows of tensors as a torch::data set, so that workers can prepare them.
class DigitRowsDataset final
    : public torch::data::datasets::BatchDataset<DigitRowsDataset, Batch> {
 public:
  DigitRowsDataset(torch::Tensor images, torch::Tensor labels)
      : images_(std::move(images)), labels_(std::move(labels)) {}

  Batch get_batch(c10::ArrayRef<std::size_t> indices) override {
    const torch::Tensor rows = torch::tensor(
        std::vector<std::int64_t>(indices.begin(), indices.end()));
    Batch batch;
    batch.data = images_.index_select(0, rows);
    if (labels_.defined()) {
      batch.target = labels_.index_select(0, rows);
    }
    return batch;
  }

  compat::DatasetSize size() const override {
    return static_cast<std::size_t>(images_.size(0));
  }

 private:
  torch::Tensor images_;
  torch::Tensor labels_;
};

std::int64_t rows_wanted(const char* option,
                         const std::optional<std::int64_t>& wanted,
                         const torch::Tensor& labels) {
  const std::int64_t there = labels.size(0);
  if (wanted && (*wanted < 0 || *wanted > there)) {
    throw InputError("DigitsOptions." + std::string(option) + " is " +
                     std::to_string(*wanted) + "; give 0 to " +
                     std::to_string(there) + ", or leave it unset for all");
  }
  return wanted.value_or(there);
}

}  // namespace

DigitsOptions tiny_digits() {
  DigitsOptions options;
  options.epochs = 2;
  options.batch_size = 2;
  options.hidden = {8};
  options.training_rows = 4;
  options.validation_rows = 2;
  options.test_rows = 2;
  return options;
}

DigitsModule::DigitsModule(const DigitsOptions& options)
    : learning_rate_(options.learning_rate) {
  if (options.seed) {
    torch::manual_seed(*options.seed);
  }
  std::vector<std::int64_t> sizes = options.hidden;
  sizes.push_back(options.classes);
  std::int64_t inputs = static_cast<std::int64_t>(DigitRows::kPixels);
  for (const std::int64_t outputs : sizes) {
    if (outputs < 1) {
      throw InputError("DigitsOptions: a layer has " + std::to_string(outputs) +
                       " outputs; give 1 or more in hidden and classes");
    }
    layers_.push_back(register_module("layer" + std::to_string(layers_.size()),
                                      torch::nn::Linear(inputs, outputs)));
    inputs = outputs;
  }
}

torch::Tensor DigitsModule::forward(torch::Tensor images) {
  MISHAP_FAULT_POINT("digits/forward");
  for (std::size_t i = 0; i + 1 < layers_.size(); ++i) {
    images = torch::relu(layers_[i](images));
  }
  return layers_.back()(images);
}

torch::Tensor DigitsModule::score(const Batch& batch) {
  const torch::Tensor scores = forward(batch.data);
  const torch::Tensor loss = torch::cross_entropy_loss(scores, batch.target);
  log("loss", loss);
  const torch::Tensor right = (scores.argmax(1) == batch.target).sum();
  log("accuracy", right.item<double>() / static_cast<double>(batch.size()));
  return loss;
}

torch::Tensor DigitsModule::training_step(const Batch& batch, std::int64_t) {
  return score(batch);
}

void DigitsModule::validation_step(const Batch& batch, std::int64_t) {
  score(batch);
}

void DigitsModule::test_step(const Batch& batch, std::int64_t) { score(batch); }

torch::Tensor DigitsModule::predict_step(const Batch& batch, std::int64_t) {
  return forward(batch.data).argmax(1);
}

Optimizers DigitsModule::configure_optimizers() {
  return Optimizers(torch::optim::SGD(
                        parameters(),
                        torch::optim::SGDOptions(learning_rate_).momentum(0.9)))
      .schedule<torch::optim::StepLR>(Optimizers::Every::kEpoch,
                                      /*step_size=*/15, /*gamma=*/0.5);
}

DigitsData::DigitsData(DigitsOptions options) : options_(std::move(options)) {}

void DigitsData::prepare_data() {
  tensors_ = digit_tensors(
      options_.data.empty() ? find_data("digits/digits.csv") : options_.data);
}

void DigitsData::setup(std::string_view) {
  const auto cut =
      [](const char* option, const std::optional<std::int64_t>& wanted,
         const torch::Tensor& images, const torch::Tensor& labels) {
        const std::int64_t rows = rows_wanted(option, wanted, labels);
        return Part{images.narrow(0, 0, rows), labels.narrow(0, 0, rows)};
      };
  training_ = cut("training_rows", options_.training_rows,
                  tensors_->training_images, tensors_->training_labels);
  validation_ = cut("validation_rows", options_.validation_rows,
                    tensors_->validation_images, tensors_->validation_labels);
  test_ = cut("test_rows", options_.test_rows, tensors_->test_images,
              tensors_->test_labels);
}

void DigitsData::teardown() {
  training_ = validation_ = test_ = Part();
  tensors_.reset();
}

LoaderPtr DigitsData::train_dataloader() { return load(training_, true); }

LoaderPtr DigitsData::val_dataloader() { return load(validation_, false); }

LoaderPtr DigitsData::test_dataloader() { return load(test_, false); }

LoaderPtr DigitsData::predict_dataloader() {
  return load(Part{test_.images, torch::Tensor()}, false);
}

LoaderPtr DigitsData::load(const Part& part, bool shuffle) const {
  LoaderOptions options;
  options.batch_size = options_.batch_size;
  options.workers = options_.workers;
  options.shuffle = shuffle;
  if (options_.workers == 0) {
    return std::make_unique<TensorLoader>(part.images, part.labels, options);
  }
  return make_loader(DigitRowsDataset(part.images, part.labels), options);
}

}  // namespace mishap::tasks
