#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/trainer/engine/engine.h>
#include <mishap/trainer/engine/tensor_loader.h>
#include <mishap/trainer/guard/observer.h>
#include <mishap/trainer/guard/run.h>

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mishap::engine_test {

/// "hook/component" of each hook, in order.
class HookTrace : public Observer {
 public:
  void before(Run& run) override {
    points.push_back(std::string(to_string(run.place().hook)) + "/" +
                     std::string(run.place().component.name()));
  }
  std::vector<std::string> points;
};

/// Throws at one hit of one run: the n-th hook that begins, or that returned.
class FailAtHit : public Observer {
 public:
  enum class When { kBefore, kAfter };
  FailAtHit(std::size_t hit, When when) : hit_(hit), when_(when) {}

  void before(Run& run) override { strike(run, When::kBefore, before_++); }
  void after(Run& run) override {
    if (run.failure() == nullptr) {
      strike(run, When::kAfter, after_++);
    }
  }

  bool fired = false;
  Hook hook = Hook::kNone;

 private:
  void strike(Run& run, When when, std::size_t hit) {
    if (when == when_ && hit == hit_ && !fired) {
      fired = true;
      hook = run.place().hook;
      throw std::runtime_error("struck");
    }
  }

  std::size_t hit_;
  When when_;
  std::size_t before_ = 0;
  std::size_t after_ = 0;
};

inline GuardOptions watched_by(Observer& observer) {
  GuardOptions guard;
  guard.observers = {&observer};
  return guard;
}

struct Calls {
  int setup = 0;
  int teardown = 0;
  int told = 0;
  int ends_after_told = 0;
  std::exception_ptr error;
  Place place;
  std::string entry_point;
  bool late = false;

  void tell(const ErrorEvent& event) {
    ++told;
    error = event.error;
    place = event.place;
    entry_point = event.entry_point;
    late = event.late;
  }
};

class SpyCallback : public Callback {
 public:
  void setup(Session&) override { ++calls.setup; }
  void teardown(Session&) override { ++calls.teardown; }
  void on_exception(const ErrorEvent& event) override { calls.tell(event); }
  void on_fit_end(Session&) override { end(); }
  void on_train_end(Session&) override { end(); }
  void on_train_batch_end(Session&, const torch::Tensor& loss, const Batch&,
                          std::int64_t) override {
    losses.push_back(loss.item<double>());
    end();
  }
  void on_validation_end(Session&) override { end(); }
  void on_test_end(Session&) override { end(); }
  void on_predict_end(Session&) override { end(); }

  Calls calls;
  std::vector<double> losses;

 private:
  void end() { calls.ends_after_told += calls.told; }
};

class SpyLogger : public Logger {
 public:
  void experiment() override { ++experiments; }
  void log_metrics(const Metrics& metrics, const Place& place) override {
    logged.emplace_back(place, metrics);
  }
  void finalize(FinalWord word) override { words.push_back(word); }

  int experiments = 0;
  std::vector<FinalWord> words;
  std::vector<std::pair<Place, Metrics>> logged;
};

/// Three features to two classes, by a layer that behaves differently in
/// training and one that is frozen in evaluation mode.
class TinyModule : public Module {
 public:
  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(3, 4));
  torch::nn::Dropout dropout =
      register_module("dropout", torch::nn::Dropout(0.25));
  torch::nn::Linear out = register_module("out", torch::nn::Linear(4, 2));

  torch::Tensor loss_of(const Batch& batch) {
    return torch::cross_entropy_loss(
        out(dropout(torch::relu(hidden(batch.data)))), batch.target);
  }
  torch::Tensor training_step(const Batch& batch, std::int64_t index) override {
    if (in_training_step) {
      in_training_step(index);
    }
    auto loss = loss_of(batch);
    log("loss", loss);
    return loss;
  }
  void validation_step(const Batch& batch, std::int64_t) override {
    if (in_validation_step) {
      in_validation_step();
    }
    log("loss", loss_of(batch));
  }
  void test_step(const Batch& batch, std::int64_t) override {
    log("loss", loss_of(batch));
  }
  torch::Tensor predict_step(const Batch& batch, std::int64_t) override {
    return out(hidden(batch.data)).argmax(1);
  }
  Optimizers configure_optimizers() override {
    return torch::optim::SGD(parameters(),
                             torch::optim::SGDOptions(0.1).momentum(0.9));
  }
  void prepare_data() override { ++prepared; }
  void setup(std::string_view) override { ++calls.setup; }
  void teardown() override { ++calls.teardown; }
  void on_exception(const ErrorEvent& event) override { calls.tell(event); }

  std::function<void(std::int64_t)> in_training_step;
  std::function<void()> in_validation_step;
  Calls calls;
  int prepared = 0;
};

class TinyData : public DataModule {
 public:
  torch::Tensor images =
      torch::arange(12, torch::kFloat32).reshape({4, 3}) / 12;
  torch::Tensor labels = torch::tensor({0, 1, 1, 0}, torch::kInt64);
  LoaderOptions options{.batch_size = 2, .seed = 5};
  bool validates = true;

  LoaderPtr load() const {
    return std::make_unique<TensorLoader>(images, labels, options);
  }
  LoaderPtr train_dataloader() override {
    LoaderOptions shuffled = options;
    shuffled.shuffle = true;
    return std::make_unique<TensorLoader>(images, labels, shuffled);
  }
  LoaderPtr val_dataloader() override { return validates ? load() : nullptr; }
  LoaderPtr test_dataloader() override { return load(); }
  LoaderPtr predict_dataloader() override { return load(); }

  void prepare_data() override { ++prepared; }
  void setup(std::string_view) override { ++calls.setup; }
  void teardown() override { ++calls.teardown; }
  void on_exception(const ErrorEvent& event) override { calls.tell(event); }

  Calls calls;
  int prepared = 0;
};

/// A world of its own: two epochs of two batches, one batch of all else.
struct TinyWorld {
  std::shared_ptr<SpyCallback> first = std::make_shared<SpyCallback>();
  std::shared_ptr<SpyCallback> second = std::make_shared<SpyCallback>();
  std::shared_ptr<SpyLogger> logger = std::make_shared<SpyLogger>();
  TinyModule module;
  TinyData data;

  explicit TinyWorld(std::uint64_t seed = 1) {
    torch::manual_seed(seed);
    torch::NoGradGuard no_grad;
    for (torch::Tensor& parameter : module.parameters()) {
      parameter.uniform_(-0.5, 0.5);
    }
  }

  TrainerOptions options() const {
    TrainerOptions result;
    result.max_epochs = 2;
    result.limit_val_batches = 1;
    result.limit_test_batches = 1;
    result.limit_predict_batches = 1;
    result.num_sanity_val_steps = 1;
    result.seed = 7;
    result.callbacks = {first, second};
    result.loggers = {logger};
    return result;
  }
};

using EntryPoint =
    std::function<void(Engine&, TinyWorld&, const GuardOptions&)>;

inline const std::map<std::string, EntryPoint>& entry_points() {
  static const std::map<std::string, EntryPoint> all = {
      {"fit",
       [](Engine& engine, TinyWorld& world, const GuardOptions& guard) {
         engine.fit(world.module, world.data, guard);
       }},
      {"validate",
       [](Engine& engine, TinyWorld& world, const GuardOptions& guard) {
         engine.validate(world.module, world.data, guard);
       }},
      {"test",
       [](Engine& engine, TinyWorld& world, const GuardOptions& guard) {
         engine.test(world.module, world.data, guard);
       }},
      {"predict",
       [](Engine& engine, TinyWorld& world, const GuardOptions& guard) {
         engine.predict(world.module, world.data, guard);
       }},
  };
  return all;
}

/// What `call` throws, or null.
template <class Call>
std::exception_ptr caught(Call call) {
  try {
    call();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

inline std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& exception) {
    return exception.what();
  }
}

inline torch::Tensor weights_of(Module& module) {
  std::vector<torch::Tensor> flat;
  for (const torch::Tensor& parameter : module.parameters()) {
    flat.push_back(parameter.detach().flatten().clone());
  }
  return torch::cat(flat);
}

}  // namespace mishap::engine_test
