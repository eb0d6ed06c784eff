#include <mishap/trainer/engine/detail/collecting.h>
#include <mishap/trainer/engine/detail/evaluation.h>

#include <algorithm>
#include <string>
#include <utility>

namespace mishap::detail {
namespace {

void evaluate_batch(Call& call, const EvaluationKind& kind,
                    const EvaluationUse& use, const Batch& batch,
                    std::int64_t index) {
  call.notify(kind.batch_start, kind.callback_batch_start,
              kind.module_batch_start, batch, index);
  Run& run = call.run();
  const Component module = fixed_components().module;
  const torch::Tensor output = run.call(kind.step, module, [&] {
    return kind.module_step(call.module(), batch, index);
  });
  for (const CallbackSeat& seat : call.callbacks()) {
    run.call(kind.batch_end, seat.component, [&] {
      kind.callback_batch_end(*seat.callback, call.session(), output, batch,
                              index);
    });
  }
  run.call(kind.batch_end, module,
           [&] { kind.module_batch_end(call.module(), output, batch, index); });
  if (use.outputs != nullptr) {
    use.outputs->push_back(output.defined() ? output.detach().to(torch::kCPU)
                                            : output);
  }
}

void evaluate_pass(Call& call, const EvaluationKind& kind,
                   LoadersInUse& loaders, LoadersInUse::One& one,
                   const EvaluationUse& use, MetricStore& store) {
  Run& run = call.run();
  std::optional<std::int64_t> limit;
  if (use.limit) {
    limit = use.limit->batches_of(one.loader->size(), use.limit_option);
  }
  if (use.at_most) {
    limit = std::min(*use.at_most, limit.value_or(*use.at_most));
  }
  for (std::int64_t index = 0; !limit || index < *limit; ++index) {
    run.set_batch(index);
    const Batch* const batch = call.load(loaders, one, index, index == 0);
    if (batch == nullptr) {
      break;
    }
    store.set_weight(batch->size());
    evaluate_batch(call, kind, use, *batch, index);
    store.set_weight(1);
    if (use.between_batches) {
      use.between_batches();
    }
  }
  call.session().drop_batch();
  run.set_batch(-1);
}

void evaluate_all(Call& call, const EvaluationKind& kind, LoadersInUse& loaders,
                  const EvaluationUse& use, MetricStore& store) {
  const bool are_several = loaders.loaders.size() > 1;
  for (std::size_t i = 0; i < loaders.loaders.size(); ++i) {
    call.session().set_dataloader(i);
    if (are_several) {
      store.set_suffix("/dataloader_idx_" + std::to_string(i));
    }
    evaluate_pass(call, kind, loaders, loaders.loaders[i], use, store);
  }
  call.session().set_dataloader(0);
  store.set_suffix({});
}

}  // namespace

Metrics evaluate(Call& call, const EvaluationKind& kind, LoadersInUse& loaders,
                 const EvaluationUse& use) {
  const torch::NoGradGuard no_grad;
  MetricStore store;
  const Collecting collecting(call.session(), store);

  if (use.inside_fit && !use.keeps_gradients) {
    call.notify_module(Hook::kOnValidationModelZeroGrad,
                       &Module::on_validation_model_zero_grad);
  }
  call.enter_evaluation();
  call.notify_module(kind.model_eval, kind.module_eval);
  call.notify(kind.start, kind.callback_start, kind.module_start);
  call.notify_strategy(kind.start, kind.strategy_start);
  call.notify(kind.epoch_start, kind.callback_epoch_start,
              kind.module_epoch_start);
  evaluate_all(call, kind, loaders, use, store);
  call.notify(kind.epoch_end, kind.callback_epoch_end, kind.module_epoch_end);

  Metrics metrics = store.reduced();
  if (!use.sanity_check) {
    call.session().publish(metrics);
    call.log_metrics(metrics);
    if (!metrics.empty()) {
      call.save_loggers();
    }
  }
  if (use.evaluated) {
    use.evaluated();
  }
  // What is logged from here on would go nowhere: it is refused.
  call.session().collect_into(nullptr);
  call.notify_in_turn(kind.end, kind.callback_end, kind.module_end);
  call.notify_strategy(kind.end, kind.strategy_end);
  call.leave_evaluation();
  call.notify_module(kind.model_train, kind.module_train);
  return metrics;
}

}  // namespace mishap::detail
