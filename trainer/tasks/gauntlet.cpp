#include <mishap/faultinject/fault_point.h>
#include <mishap/trainer/engine/make_loader.h>
#include <mishap/trainer/engine/tensor_loader.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/tasks/gauntlet.h>
#include <mishap/trainer/tasks/retrying_loader.h>

#include <numbers>
#include <utility>

namespace mishap::tasks {
namespace {

constexpr std::int64_t kNoise = 2;

/// x / (1 + |x|), with a backward pass of our own.
struct Squash : torch::autograd::Function<Squash> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& x) {
    context->save_for_backward({x});
    return x / (1 + x.abs());
  }
  static torch::autograd::tensor_list backward(
      torch::autograd::AutogradContext* context,
      const torch::autograd::tensor_list& gradients) {
    MISHAP_FAULT_POINT("gauntlet/backward");
    const torch::Tensor x = context->get_saved_variables().front();
    return {gradients.front() / (1 + x.abs()).pow(2)};
  }
};

torch::nn::Sequential network(std::int64_t inputs, std::int64_t hidden,
                              std::int64_t outputs) {
  return torch::nn::Sequential(torch::nn::Linear(inputs, hidden),
                               torch::nn::Tanh(),
                               torch::nn::Linear(hidden, outputs));
}

/// Rows of a tensor as a torch::data set, so that workers can prepare them.
class PointsDataset final
    : public torch::data::datasets::BatchDataset<PointsDataset, Batch> {
 public:
  explicit PointsDataset(torch::Tensor points) : points_(std::move(points)) {}
  Batch get_batch(c10::ArrayRef<std::size_t> indices) override {
    const torch::Tensor rows = torch::tensor(
        std::vector<std::int64_t>(indices.begin(), indices.end()));
    return {points_.index_select(0, rows), {}, {}};
  }
  compat::DatasetSize size() const override {
    return static_cast<std::size_t>(points_.size(0));
  }

 private:
  torch::Tensor points_;
};

}  // namespace

GauntletOptions tiny_gauntlet() {
  GauntletOptions options;
  options.epochs = 2;
  options.batch_size = 2;
  options.points = 4;
  options.hidden = 3;
  return options;
}

GauntletModule::GauntletModule(const GauntletOptions& options)
    : learning_rate_(options.learning_rate) {
  if (options.seed) {
    torch::manual_seed(*options.seed);
  }
  generator_ = register_module("generator", network(kNoise, options.hidden, 2));
  critic_ = register_module("critic", network(2, options.hidden, 1));
}

torch::Tensor GauntletModule::make_points(std::int64_t count) {
  return Squash::apply(generator_->forward(torch::randn({count, kNoise})));
}

torch::Tensor GauntletModule::score(const torch::Tensor& points) {
  return critic_->forward(points);
}

torch::Tensor GauntletModule::train_critic(const torch::Tensor& points) {
  manual_zero_grad(1);
  const torch::Tensor made = make_points(points.size(0)).detach();
  const torch::Tensor loss =
      (torch::softplus(score(made)) + torch::softplus(-score(points))).mean();
  manual_backward(loss);
  manual_step(1);
  return loss;
}

torch::Tensor GauntletModule::train_generator(std::int64_t count) {
  manual_zero_grad(0);
  const torch::Tensor loss = torch::softplus(-score(make_points(count))).mean();
  manual_backward(loss);
  manual_step(0);
  return loss;
}

torch::Tensor GauntletModule::training_step(const Batch& batch, std::int64_t) {
  MISHAP_FAULT_POINT("gauntlet/step");
  const torch::Tensor critic = train_critic(batch.data);
  const torch::Tensor generator = train_generator(batch.size());
  log("critic_loss", critic);
  log("loss", generator);
  return generator;
}

void GauntletModule::evaluate(const Batch& batch) {
  log("real_found", (score(batch.data) > 0).to(torch::kFloat64).mean());
  log("loss", torch::softplus(-score(batch.data)).mean());
}

void GauntletModule::validation_step(const Batch& batch, std::int64_t) {
  evaluate(batch);
}

void GauntletModule::test_step(const Batch& batch, std::int64_t) {
  evaluate(batch);
}

torch::Tensor GauntletModule::predict_step(const Batch& batch, std::int64_t) {
  return score(batch.data);
}

Optimizers GauntletModule::configure_optimizers() {
  using Every = Optimizers::Every;
  return Optimizers(
             torch::optim::Adam(generator_->parameters(), learning_rate_))
      .schedule<torch::optim::StepLR>(Every::kEpoch, 5, 0.8)
      .add(torch::optim::Adam(critic_->parameters(), learning_rate_))
      .schedule<torch::optim::StepLR>(Every::kStep, 50, 0.99);
}

GauntletData::GauntletData(GauntletOptions options)
    : options_(std::move(options)) {
  if (options_.points < 1) {
    throw InputError("GauntletOptions.points is " +
                     std::to_string(options_.points) + "; give 1 or more");
  }
}

void GauntletData::setup(std::string_view) {
  const torch::Tensor angle = torch::arange(options_.points, torch::kFloat32) *
                              (2 * std::numbers::pi / options_.points);
  points_ = torch::stack({angle.cos(), angle.sin()}, 1) / 2;
}

void GauntletData::teardown() { points_ = torch::Tensor(); }

LoaderPtr GauntletData::train_dataloader() {
  const LoaderOptions options{.batch_size = options_.batch_size,
                              .shuffle = true};
  return std::make_unique<RetryingLoader>(
      std::make_unique<TensorLoader>(points_, torch::Tensor(), options));
}

LoaderPtr GauntletData::load_with_workers() const {
  const LoaderOptions options{.batch_size = options_.batch_size,
                              .workers = options_.workers};
  return make_loader(PointsDataset(points_.narrow(
                         0, 0, std::min(options_.batch_size, options_.points))),
                     options);
}

LoaderPtr GauntletData::val_dataloader() { return load_with_workers(); }

LoaderPtr GauntletData::test_dataloader() { return load_with_workers(); }

LoaderPtr GauntletData::predict_dataloader() { return load_with_workers(); }

}  // namespace mishap::tasks
