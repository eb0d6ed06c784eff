#include <mishap/trainer/engine/plateau.h>
#include <mishap/trainer/guard/errors.h>

#include <algorithm>
#include <utility>

namespace mishap {
namespace {

void check(const PlateauOptions& options) {
  const auto refuse = [](const std::string& what) {
    throw InputError("PlateauOptions." + what);
  };
  if (options.monitor.empty()) {
    refuse("monitor is empty; name a metric that the module logs");
  }
  if (!(options.factor > 0 && options.factor < 1)) {
    refuse("factor is " + std::to_string(options.factor) +
           "; give a number between 0 and 1");
  }
  if (options.patience < 0 || options.cooldown < 0) {
    refuse("patience and cooldown are numbers of epochs; give 0 or more");
  }
  if (!(options.min_lr >= 0)) {
    refuse("min_lr is " + std::to_string(options.min_lr) + "; give 0 or more");
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

ReduceOnPlateau::ReduceOnPlateau(torch::optim::Optimizer& optimizer,
                                 PlateauOptions options)
    : optimizer_(optimizer),
      options_(std::move(options)),
      best_(options_.better == Better::kLower ? kInfinity : -kInfinity) {
  check(options_);
}

void ReduceOnPlateau::step(double metric) {
  if (improves(metric)) {
    best_ = metric;
    bad_epochs_ = 0;
  } else {
    ++bad_epochs_;
  }
  if (cooling_ > 0) {
    --cooling_;
    bad_epochs_ = 0;
  }
  if (bad_epochs_ > options_.patience) {
    reduce();
    cooling_ = options_.cooldown;
    bad_epochs_ = 0;
  }
}

bool ReduceOnPlateau::improves(double metric) const noexcept {
  // False for NaN, which no value is better or worse than.
  return options_.better == Better::kLower
             ? metric < best_ * (1 - options_.threshold)
             : metric > best_ * (1 + options_.threshold);
}

void ReduceOnPlateau::reduce() {
  for (auto& group : optimizer_.param_groups()) {
    const double lr = group.options().get_lr();
    group.options().set_lr(std::max(lr * options_.factor, options_.min_lr));
  }
}

State ReduceOnPlateau::state() const {
  State state;
  state.set("best", best_);
  state.set("bad_epochs", bad_epochs_);
  state.set("cooling", cooling_);
  return state;
}

void ReduceOnPlateau::load_state(const State& state) {
  best_ = state.number("best");
  bad_epochs_ = state.integer("bad_epochs");
  cooling_ = state.integer("cooling");
}

}  // namespace mishap
