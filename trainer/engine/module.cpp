#include <mishap/trainer/engine/class_name_of.h>
#include <mishap/trainer/engine/data_module.h>
#include <mishap/trainer/engine/module.h>
#include <mishap/trainer/guard/errors.h>

#include <string>
#include <utility>

namespace mishap {
namespace {

[[noreturn]] void not_overridden(const Module& module, const char* step,
                                 const char* entry_point) {
  throw InputError(class_name_of(module) + " does not override " + step +
                   "(); override it to use " + entry_point);
}

}  // namespace

torch::Tensor Module::training_step(const Batch&, std::int64_t) {
  not_overridden(*this, "training_step", "fit");
}

void Module::validation_step(const Batch&, std::int64_t) {
  not_overridden(*this, "validation_step", "validation");
}

void Module::test_step(const Batch&, std::int64_t) {
  not_overridden(*this, "test_step", "test");
}

torch::Tensor Module::predict_step(const Batch&, std::int64_t) {
  not_overridden(*this, "predict_step", "predict");
}

void Module::optimizer_zero_grad(torch::optim::Optimizer& optimizer) {
  optimizer.zero_grad();
}

void Module::backward(const torch::Tensor& loss) { loss.backward(); }

void Module::configure_gradient_clipping(torch::optim::Optimizer& optimizer,
                                         std::optional<double> max_norm) {
  if (!max_norm) {
    return;
  }
  std::vector<torch::Tensor> parameters;
  for (const auto& group : optimizer.param_groups()) {
    parameters.insert(parameters.end(), group.params().begin(),
                      group.params().end());
  }
  torch::nn::utils::clip_grad_norm_(std::move(parameters), *max_norm);
}

void Module::optimizer_step(torch::optim::Optimizer& optimizer,
                            const Closure& closure) {
  optimizer.step(closure);
}

void Module::lr_scheduler_step(torch::optim::LRScheduler& scheduler) {
  scheduler.step();
}

void Module::on_validation_model_zero_grad() {
  zero_grad(/*set_to_none=*/true);
}

Batch Module::transfer_batch_to_device(Batch batch,
                                       const torch::Device& device) {
  return to_device(std::move(batch), device);
}

void Module::log(std::string_view name, double value, const LogOptions& how) {
  session().log(name, value, how);
}

void Module::log(std::string_view name, const torch::Tensor& value,
                 const LogOptions& how) {
  session().log(name, value, how);
}

torch::optim::Optimizer& Module::optimizer(std::size_t index) {
  return session().optimizer(index);
}

void Module::manual_backward(const torch::Tensor& loss) {
  session().by_hand("manual_backward").backward(loss);
}

void Module::manual_step(std::size_t index) {
  session().by_hand("manual_step").step(index);
}

void Module::manual_zero_grad(std::size_t index) {
  session().by_hand("manual_zero_grad").zero_grad(index);
}

Session& Module::session() {
  Session* const current = Session::current();
  if (current == nullptr || &current->module() != this) {
    throw InputError(class_name_of(*this) +
                     " takes part in no call of a trainer on this thread; log "
                     "and ask for the session in its hooks only");
  }
  return *current;
}

}  // namespace mishap
