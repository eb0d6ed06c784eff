#include <mishap/trainer/engine/checkpoint.h>
#include <mishap/trainer/engine/detail/progress.h>

namespace mishap::detail {

State Progress::state() const {
  State state;
  state.set("epoch", epoch);
  state.set("pass", pass);
  state.set("epoch_begun", epoch_begun);
  state.set("batches", batches);
  state.set("step", step);
  state.set("validated_at", validated_at);
  state.set("epoch_ended", epoch_ended);
  state.set("is_cut", is_cut);
  state.set("stopping", stopping);
  state.set("in_window", in_window);
  state.set("schedules_due", schedules_due);
  state.set("schedules_done", schedules_done);
  state.set("nanos", nanos);
  return state;
}

Progress Progress::from(const State& state) {
  Progress progress;
  progress.epoch = state.integer("epoch");
  progress.pass = state.integer("pass");
  progress.epoch_begun = state.flag("epoch_begun");
  progress.batches = state.integer("batches");
  progress.step = state.integer("step");
  progress.validated_at = state.integer("validated_at");
  progress.epoch_ended = state.flag("epoch_ended");
  progress.is_cut = state.flag("is_cut");
  progress.stopping = state.flag("stopping");
  progress.in_window = state.integer("in_window");
  progress.schedules_due = state.flag("schedules_due");
  progress.schedules_done = state.integer("schedules_done");
  progress.nanos = state.integer("nanos");
  for (const std::int64_t count :
       {progress.epoch, progress.pass, progress.batches, progress.step,
        progress.in_window, progress.nanos}) {
    if (count < 0) {
      throw CheckpointError(
          "the checkpoint's place in the training is "
          "negative; it was made by other code");
    }
  }
  return progress;
}

}  // namespace mishap::detail
