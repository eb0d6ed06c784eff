#include <mishap/trainer/engine/checkpoint.h>
#include <mishap/trainer/engine/class_name_of.h>
#include <mishap/trainer/engine/detail/fit_checkpoints.h>
#include <mishap/trainer/engine/detail/module_state.h>
#include <mishap/trainer/engine/detail/optimizer_state.h>
#include <mishap/trainer/guard/replace_file.h>

#include <string>
#include <utility>

namespace mishap::detail {
namespace {

constexpr std::int64_t kFormat = 1;

// The stage while a checkpoint is saved or loaded.
class StageScope {
 public:
  StageScope(Run& run, Stage stage) noexcept
      : run_(run), outer_(run.place().stage) {
    run_.set_stage(stage);
  }
  ~StageScope() { run_.set_stage(outer_); }
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;

 private:
  Run& run_;
  Stage outer_;
};

State to_state(const Metrics& metrics) {
  State state;
  for (const auto& [name, value] : metrics) {
    state.set(name, value);
  }
  return state;
}

Metrics to_metrics(const State& state) {
  Metrics metrics;
  for (const std::string& name : state.names()) {
    metrics.emplace(name, state.number(name));
  }
  return metrics;
}

std::string callback_key(const CallbackSeat& seat) {
  return std::string(seat.component.name());
}

// The file's state, if it is one of this module.
State read_matching(Call& call, const std::filesystem::path& path,
                    std::string* checksum = nullptr) {
  return call.run().call(
      Hook::kLoadCheckpoint, fixed_components().checkpoint, [&] {
        State root = read_checkpoint(path, call.store(), checksum);
        if (root.integer("format") > kFormat) {
          throw CheckpointError(path.native() +
                                " was saved by a newer version of Mishap; go "
                                "on with that one");
        }
        check_matches(call.module(), root.inner("module"));
        return root;
      });
}

void tell_module(Call& call, const State& root) {
  const State own = root.inner("module_own");
  call.notify_module(Hook::kOnLoadCheckpoint, &Module::on_load_checkpoint, own);
}

}  // namespace

void FitCheckpoints::save(std::span<const std::filesystem::path> paths,
                          std::int64_t nanos,
                          const std::function<void(std::size_t)>& saved) {
  std::optional<ResumePoints::Point> point = points_.point();
  if (!point) {
    throw InputError(
        "save_checkpoint(\"" + paths.front().native() + "\") was called in " +
        std::string(to_string(call_.run().place().hook)) +
        ", from where no fit can go on; call it in on_train_batch_end, or in "
        "on_validation_end or on_train_epoch_end of a callback that monitors, "
        "or keep_resume_points() before");
  }
  point->progress.nanos = nanos;
  point->progress.stopping = call_.session().stopping();
  const StageScope stage(call_.run(), Stage::kSaveCheckpoint);
  State root = collect(*point);
  ask_components(root);
  std::string bytes;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    call_.run().call(Hook::kSaveCheckpoint, fixed_components().checkpoint, [&] {
      if (bytes.empty()) {
        bytes = to_checkpoint(root);
      }
      replace_file(paths[i].native(), bytes, call_.store());
      saved(i);
      call_.run().note_checkpoint(
          {paths[i].native(), point->progress.step, checksum_of(bytes)});
    });
  }
}

State FitCheckpoints::collect(const ResumePoints::Point& point) {
  State root;
  root.set("format", kFormat);
  root.set("module_class", class_name_of(call_.module()));
  State module = state_of(call_.module());
  for (const std::string& name : point.buffers.names()) {
    module.set(name, point.buffers.tensor(name));
  }
  root.set("module", module);
  root.set("optimizers", state_of(call_.optimizers()));
  root.set("progress", point.progress.state());
  root.set("metrics", point.metrics.state());
  root.set("published", to_state(call_.session().metrics()));
  root.set("random", point.random.state());
  const bool are_summed =
      point.progress.in_window > 0 || !call_.module().automatic_optimization();
  root.set("gradients", gradients_of(call_.module(), are_summed));
  if (train_ != nullptr && *train_) {
    root.set("loader", train_->loaders.front().loader->state());
  }
  return root;
}

void FitCheckpoints::ask_components(State& root) {
  const FixedComponents& fixed = fixed_components();
  Run& run = call_.run();
  State data;
  run.call(Hook::kOnSaveCheckpoint, fixed.data,
           [&] { call_.data().on_save_checkpoint(data); });
  root.set("data", data);
  State callbacks;
  for (const CallbackSeat& seat : call_.callbacks()) {
    State own;
    call_.notify_callback(Hook::kOnSaveCheckpoint, seat,
                          &Callback::on_save_checkpoint, own);
    if (!own.empty()) {
      callbacks.set(callback_key(seat), own);
    }
  }
  root.set("callbacks", callbacks);
  State own;
  call_.notify_module(Hook::kOnSaveCheckpoint, &Module::on_save_checkpoint,
                      own);
  root.set("module_own", own);
}

void FitCheckpoints::load(const std::filesystem::path& path) {
  const StageScope stage(call_.run(), Stage::kLoadCheckpoint);
  std::string checksum;
  State root = read_matching(call_, path, &checksum);
  if (!root.has("progress")) {
    throw CheckpointError(path.native() +
                          " holds no training to go on with; give one that a "
                          "fit saved");
  }
  const Progress progress = Progress::from(root.inner("progress"));
  check_place(progress);
  call_.run().set_step(progress.step);
  call_.run().call(Hook::kRestoreOptimizer, fixed_components().optimizer, [&] {
    load_into(call_.optimizers(), root.inner("optimizers"));
  });
  tell_components(root);
  points_.metrics().load_state(root.inner("metrics"));
  const Metrics published = to_metrics(root.inner("published"));
  RandomState::of(call_.device()).load_state(root.inner("random"));
  before_ = load_into(call_.module(), root.inner("module"));
  load_gradients(call_.module(), root.inner("gradients"));
  call_.session().publish(published);
  points_.progress() = progress;
  call_.run().note_checkpoint({path.native(), progress.step, checksum});
  loaded_ = std::move(root);
}

void FitCheckpoints::check_place(const Progress& progress) const {
  const TrainerOptions& options = call_.options();
  if (progress.epoch > options.max_epochs) {
    throw InputError("the checkpoint is at epoch " +
                     std::to_string(progress.epoch) + ", max_epochs is " +
                     std::to_string(options.max_epochs) +
                     "; give as many epochs as before, or more");
  }
  if (options.max_steps && progress.step > *options.max_steps) {
    throw InputError("the checkpoint is at step " +
                     std::to_string(progress.step) + ", max_steps is " +
                     std::to_string(*options.max_steps) +
                     "; give as many steps as before, or more");
  }
}

void FitCheckpoints::tell_components(const State& root) {
  Run& run = call_.run();
  const State data = root.inner("data");
  run.call(Hook::kOnLoadCheckpoint, fixed_components().data,
           [&] { call_.data().on_load_checkpoint(data); });
  const State callbacks = root.inner("callbacks");
  for (const CallbackSeat& seat : call_.callbacks()) {
    const std::string key = callback_key(seat);
    if (callbacks.has(key)) {
      const State own = callbacks.inner(key);
      call_.notify_callback(Hook::kOnLoadCheckpoint, seat,
                            &Callback::on_load_checkpoint, own);
    }
  }
  tell_module(call_, root);
}

void FitCheckpoints::restore_loader(LoadersInUse& train) {
  if (!loaded_) {
    return;
  }
  train.only().passes = points_.progress().pass;
  if (loaded_->has("loader")) {
    try {
      train.only().loader->load_state(loaded_->inner("loader"));
    } catch (...) {
      // All or nothing: the loader is the last that can refuse.
      load_into(call_.module(), before_);
      throw;
    }
  }
  before_ = State();
}

void FitCheckpoints::restore_random() {
  RandomState random = RandomState::of(call_.device());
  random.load_state(loaded_->inner("random"));
  random.restore();
}

void load_weights(Call& call, const std::filesystem::path& path) {
  const StageScope stage(call.run(), Stage::kLoadCheckpoint);
  const State root = read_matching(call, path);
  tell_module(call, root);
  load_into(call.module(), root.inner("module"));
}

}  // namespace mishap::detail
