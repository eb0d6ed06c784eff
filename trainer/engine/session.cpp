#include <mishap/trainer/engine/session.h>
#include <mishap/trainer/guard/errors.h>

#include <string>
#include <utility>

namespace mishap {
namespace {

thread_local Session* innermost_session = nullptr;

}  // namespace

Session::Session(Run& run, Module& module,
                 const TrainerOptions& options) noexcept
    : run_(run),
      module_(module),
      options_(options),
      outer_(std::exchange(innermost_session, this)) {}

Session::~Session() { innermost_session = outer_; }

Session* Session::current() noexcept { return innermost_session; }

bool Session::is_inside_call_of(const Module& module) const noexcept {
  const Session* call = outer_;
  while (call != nullptr && &call->module_ != &module) {
    call = call->outer_;
  }
  return call != nullptr;
}

MetricStore& Session::open_store(std::string_view name) {
  if (store_ == nullptr) {
    throw InputError("log(\"" + std::string(name) + "\") was called in " +
                     std::string(to_string(place().hook)) +
                     ", where no epoch is running; call it from a step or "
                     "from a hook of an epoch");
  }
  return *store_;
}

void Session::log(std::string_view name, double value, const LogOptions& how) {
  open_store(name).log(name, value, how);
}

void Session::log(std::string_view name, const torch::Tensor& value,
                  const LogOptions& how) {
  MetricStore& store = open_store(name);
  if (!value.defined() || value.numel() != 1) {
    throw InputError("log(\"" + std::string(name) + "\") was given " +
                     (value.defined()
                          ? std::to_string(value.numel()) + " elements"
                          : std::string("an undefined tensor")) +
                     "; give a number or a tensor of one element");
  }
  store.log(name, value, how);
}

Metrics Session::shown_metrics() {
  return store_ == nullptr ? Metrics() : store_->shown();
}

FitControl& Session::fit(std::string_view caller) {
  if (fit_ == nullptr) {
    throw InputError(std::string(caller) + "() was called in " +
                     std::string(run_.entry_point()) + ' ' +
                     std::string(to_string(place().hook)) +
                     ", where no fit has its optimizers; call it from a hook "
                     "of a fit after configure_optimizers");
  }
  return *fit_;
}

torch::optim::Optimizer& Session::optimizer(std::size_t index) {
  FitControl& control = fit("optimizer");
  if (index >= control.optimizers()) {
    throw InputError("optimizer(" + std::to_string(index) +
                     ") was asked for, but configure_optimizers returned " +
                     std::to_string(control.optimizers()) +
                     "; they are counted from 0");
  }
  return control.optimizer(index);
}

std::int64_t Session::batches_in_epoch() {
  return fit("batches_in_epoch").batches_in_epoch();
}

void Session::save_checkpoint(const std::filesystem::path& path,
                              const std::function<void()>& saved) {
  save_checkpoint({&path, 1}, [&](std::size_t) {
    if (saved) {
      saved();
    }
  });
}

void Session::save_checkpoint(std::span<const std::filesystem::path> paths,
                              const std::function<void(std::size_t)>& saved) {
  fit("save_checkpoint").save_checkpoint(paths, saved);
}

void Session::keep_resume_points() {
  fit("keep_resume_points").keep_resume_points();
}

bool Session::can_save_checkpoint() {
  return fit_ != nullptr && fit_->can_save();
}

std::int64_t Session::step_to_resume() {
  return fit("step_to_resume").step_to_resume();
}

ManualOptimization& Session::by_hand(std::string_view caller) {
  if (by_hand_ == nullptr) {
    throw InputError(std::string(caller) + "() was called in " +
                     std::string(to_string(place().hook)) +
                     "; it belongs into training_step() of a module whose "
                     "automatic_optimization() is false");
  }
  return *by_hand_;
}

void Session::publish(const Metrics& metrics) {
  for (const auto& [name, value] : metrics) {
    metrics_.insert_or_assign(name, value);
  }
}

const Batch& Session::hold(Batch batch) noexcept {
  batch_ = std::move(batch);
  has_batch_ = true;
  return batch_;
}

void Session::drop_batch() noexcept {
  batch_ = Batch();
  has_batch_ = false;
}

}  // namespace mishap
