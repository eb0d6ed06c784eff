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

  template <class Body>
  void enter(std::string_view entry_point, Module& module, DataModule& data,
             const GuardOptions& guard, Body body) {
    detail::Claim claim(occupancy);
    // Outlives the guard's body: cleanup needs what the call owns.
    std::optional<detail::Call> call;
    guarded_call(entry_point, guard, [&](Run& run) {
      claim.take(entry_point);
      call.emplace(run, module, data, options);
      call->configure(claim.nested());
      body(*call, claim.nested());
    });
  }

  Metrics evaluate(const detail::EvaluationKind& kind,
                   const std::optional<std::int64_t>& limit,
                   std::vector<torch::Tensor>* outputs, detail::Call& call) {
    call.set_up();
    if (limit == 0) {
      return {};
    }
    call.run().set_stage(kind.stage);
    detail::LoaderInUse& loader = call.make_loader(
        kind.loader, kind.make_loader, detail::Call::Loaders::kRequired);
    detail::EvaluationUse use;
    use.limit = limit;
    use.outputs = outputs;
    return detail::evaluate(call, kind, loader, use);
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
  impl_->options = std::move(options);
  keep_torch_state();
}

Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

const TrainerOptions& Engine::options() const noexcept {
  return impl_->options;
}

void Engine::fit(Module& module, DataModule& data, const GuardOptions& guard) {
  impl_->enter("fit", module, data, owned_by(this, guard),
               [&](detail::Call& call, bool nested) {
                 if (nested) {
                   throw InputError(
                       "fit was called from a hook of the same trainer; use a "
                       "trainer of its own for a fit inside a run");
                 }
                 if (impl_->options.seed) {
                   torch::manual_seed(*impl_->options.seed);
                 }
                 call.set_up();
                 detail::FitLoop(call, call.make_optimizers()).run();
               });
}

Metrics Engine::validate(Module& module, DataModule& data,
                         const GuardOptions& guard) {
  Metrics metrics;
  impl_->enter("validate", module, data, owned_by(this, guard),
               [&](detail::Call& call, bool) {
                 metrics = impl_->evaluate(detail::kValidation,
                                           impl_->options.limit_val_batches,
                                           nullptr, call);
               });
  return metrics;
}

Metrics Engine::test(Module& module, DataModule& data,
                     const GuardOptions& guard) {
  Metrics metrics;
  impl_->enter("test", module, data, owned_by(this, guard),
               [&](detail::Call& call, bool) {
                 metrics = impl_->evaluate(detail::kTesting,
                                           impl_->options.limit_test_batches,
                                           nullptr, call);
               });
  return metrics;
}

std::vector<torch::Tensor> Engine::predict(Module& module, DataModule& data,
                                           const GuardOptions& guard) {
  std::vector<torch::Tensor> outputs;
  impl_->enter("predict", module, data, owned_by(this, guard),
               [&](detail::Call& call, bool) {
                 impl_->evaluate(detail::kPrediction,
                                 impl_->options.limit_predict_batches, &outputs,
                                 call);
               });
  return outputs;
}

}  // namespace mishap
