#include <mishap/trainer/engine/detail/collecting.h>
#include <mishap/trainer/engine/detail/evaluation.h>

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

void evaluate_pass(Call& call, const EvaluationKind& kind, LoaderInUse& loader,
                   const EvaluationUse& use, MetricStore& store) {
  Run& run = call.run();
  for (std::int64_t index = 0; !use.limit || index < *use.limit; ++index) {
    run.set_batch(index);
    const Batch* const batch = call.load(loader, index);
    if (batch == nullptr) {
      break;
    }
    store.set_weight(batch->size());
    evaluate_batch(call, kind, use, *batch, index);
    store.set_weight(1);
  }
  call.session().drop_batch();
  run.set_batch(-1);
}

}  // namespace

Metrics evaluate(Call& call, const EvaluationKind& kind, LoaderInUse& loader,
                 const EvaluationUse& use) {
  const torch::NoGradGuard no_grad;
  MetricStore store;
  const Collecting collecting(call.session(), store);

  if (use.inside_fit) {
    call.notify_module(Hook::kOnValidationModelZeroGrad,
                       &Module::on_validation_model_zero_grad);
  }
  call.enter_evaluation();
  call.notify_module(kind.model_eval, kind.module_eval);
  call.notify(kind.start, kind.callback_start, kind.module_start);
  call.notify_strategy(kind.start, kind.strategy_start);
  call.notify(kind.epoch_start, kind.callback_epoch_start,
              kind.module_epoch_start);
  evaluate_pass(call, kind, loader, use, store);
  call.notify(kind.epoch_end, kind.callback_epoch_end, kind.module_epoch_end);

  Metrics means = store.means();
  if (!use.sanity_check) {
    call.session().publish(means);
    call.log_metrics(means);
    if (!means.empty()) {
      call.save_loggers();
    }
  }
  call.notify(kind.end, kind.callback_end, kind.module_end);
  call.notify_strategy(kind.end, kind.strategy_end);
  call.leave_evaluation();
  call.notify_module(kind.model_train, kind.module_train);
  return means;
}

}  // namespace mishap::detail
