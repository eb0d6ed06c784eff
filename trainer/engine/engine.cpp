#include <mishap/trainer/engine/detail/call.h>
#include <mishap/trainer/engine/detail/claim.h>
#include <mishap/trainer/engine/detail/evaluation.h>
#include <mishap/trainer/engine/detail/fit_loop.h>
#include <mishap/trainer/engine/engine.h>
#include <mishap/trainer/engine/process_state_torch.h>
#include <mishap/trainer/guard/errors.h>

#include <optional>
#include <string_view>
#include <utility>

namespace mishap {

struct Engine::Impl {
  TrainerOptions options;
  detail::Occupancy occupancy;

  // `fit_loop` is there for the body to fill.
  template <class Body>
  void enter(std::string_view entry_point, Module& module, DataModule& data,
             const GuardOptions& guard, Body body) {
    detail::Claim claim(occupancy);
    // Outlives the guard's body: cleanup needs what the call owns.
    std::optional<detail::Call> call;
    std::optional<detail::FitLoop> fit_loop;
    guarded_call(entry_point, guard, [&](Run& run) {
      claim.take(entry_point);
      call.emplace(run, module, data, options);
      call->configure(claim.nested());
      body(*call, fit_loop, claim.nested());
    });
  }

  Metrics evaluate(const detail::EvaluationKind& kind,
                   const std::optional<BatchLimit>& limit,
                   std::string_view limit_option,
                   const std::filesystem::path& checkpoint,
                   std::vector<torch::Tensor>* outputs, detail::Call& call) {
    call.set_up();
    if (!checkpoint.empty()) {
      detail::load_weights(call, checkpoint);
    }
    if (limit && limit->is_none()) {
      return {};
    }
    call.run().set_stage(kind.stage);
    detail::LoadersInUse& loaders = call.make_loaders(
        kind.loader, [&] { return (call.data().*kind.make_loaders)(); },
        detail::Call::Loaders::kRequired);
    detail::EvaluationUse use;
    use.limit = limit;
    use.limit_option = limit_option;
    use.outputs = outputs;
    return detail::evaluate(call, kind, loaders, use);
  }
};

namespace {

GuardOptions owned_by(const void* owner, GuardOptions guard) {
  if (guard.owner == nullptr) {
    guard.owner = owner;
  }
  return guard;
}

}  // namespace

Engine::Engine(TrainerOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->options = effective(std::move(options));
  keep_torch_state();
}

Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

const TrainerOptions& Engine::options() const noexcept {
  return impl_->options;
}

void Engine::fit(Module& module, DataModule& data, const GuardOptions& guard,
                 const std::filesystem::path& checkpoint) {
  impl_->enter("fit", module, data, owned_by(this, guard),
               [&](detail::Call& call, auto& fit_loop, bool nested) {
                 if (nested) {
                   throw InputError(
                       "fit was called from a hook of the same trainer; use a "
                       "trainer of its own for a fit inside a run");
                 }
                 if (impl_->options.seed) {
                   torch::manual_seed(*impl_->options.seed);
                 }
                 call.set_up();
                 call.make_optimizers();
                 fit_loop.emplace(call).run(checkpoint);
               });
}

Metrics Engine::validate(Module& module, DataModule& data,
                         const GuardOptions& guard,
                         const std::filesystem::path& checkpoint) {
  Metrics metrics;
  impl_->enter("validate", module, data, owned_by(this, guard),
               [&](detail::Call& call, auto&, bool) {
                 metrics = impl_->evaluate(
                     detail::kValidation, impl_->options.limit_val_batches,
                     "limit_val_batches", checkpoint, nullptr, call);
               });
  return metrics;
}

Metrics Engine::test(Module& module, DataModule& data,
                     const GuardOptions& guard,
                     const std::filesystem::path& checkpoint) {
  Metrics metrics;
  impl_->enter("test", module, data, owned_by(this, guard),
               [&](detail::Call& call, auto&, bool) {
                 metrics = impl_->evaluate(
                     detail::kTesting, impl_->options.limit_test_batches,
                     "limit_test_batches", checkpoint, nullptr, call);
               });
  return metrics;
}

std::vector<torch::Tensor> Engine::predict(
    Module& module, DataModule& data, const GuardOptions& guard,
    const std::filesystem::path& checkpoint) {
  std::vector<torch::Tensor> outputs;
  impl_->enter("predict", module, data, owned_by(this, guard),
               [&](detail::Call& call, auto&, bool) {
                 impl_->evaluate(
                     detail::kPrediction, impl_->options.limit_predict_batches,
                     "limit_predict_batches", checkpoint, &outputs, call);
               });
  return outputs;
}

}  // namespace mishap
