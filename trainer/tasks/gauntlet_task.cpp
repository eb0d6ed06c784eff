#include <mishap/trainer/engine/callbacks/model_checkpoint.h>
#include <mishap/trainer/engine/options.h>
#include <mishap/trainer/tasks/courier.h>
#include <mishap/trainer/tasks/gauntlet.h>
#include <mishap/trainer/tasks/gauntlet_task.h>
#include <mishap/trainer/tasks/nested_check.h>
#include <mishap/trainer/testing/spied.h>
#include <mishap/trainer/testing/world_folder.h>

#include <filesystem>
#include <memory>

namespace mishap::tasks {
namespace {

constexpr std::int64_t kMostOfAll = 1'000'000;

// Only what was given, so that the world stays small.
void apply(const TaskSettings& settings, GauntletOptions& options) {
  settings.integer_if_given("epochs", 1, kMostOfAll, options.epochs);
  settings.integer_if_given("batch_size", 1, kMostOfAll, options.batch_size);
  settings.integer_if_given("points", 1, kMostOfAll, options.points);
  settings.number_if_given("learning_rate", 0, 10, options.learning_rate);
  settings.integer_if_given("workers", 0, 64, options.workers);
}

TrainerOptions trainer_options(const GauntletOptions& gauntlet) {
  TrainerOptions options;
  options.max_epochs = gauntlet.epochs;
  return options;
}

void add_callbacks(TrainerOptions& trainer) {
  trainer.callbacks = {std::make_shared<Courier>(trainer.root_dir),
                       std::make_shared<NestedCheck>(),
                       std::make_shared<ModelCheckpoint>(
                           ModelCheckpointOptions{.monitor = "probe",
                                                  .save_last = true,
                                                  .every_n_train_steps = 6,
                                                  .save_on_exception = true})};
}

TaskParts make_gauntlet(const TaskSettings& settings) {
  GauntletOptions options;
  apply(settings, options);
  TrainerOptions trainer = trainer_options(options);
  std::shared_ptr<void> folder = make_world_folder(trainer);
  add_callbacks(trainer);
  return {std::make_shared<GauntletModule>(options),
          std::make_shared<GauntletData>(options),
          std::make_shared<TrainerOptions>(std::move(trainer)),
          std::move(folder)};
}

TaskParts make_gauntlet_world(Journal& journal, const TaskSettings& settings) {
  GauntletOptions options = tiny_gauntlet();
  apply(settings, options);
  TrainerOptions trainer = trainer_options(options);
  trainer.num_sanity_val_steps = 1;
  trainer.log_every_n_steps = 1;
  std::shared_ptr<void> folder = make_world_folder(trainer);
  add_callbacks(trainer);
  return {std::make_shared<Spied<GauntletModule>>(journal, options),
          std::make_shared<Spied<GauntletData>>(journal, options),
          std::make_shared<TrainerOptions>(std::move(trainer)),
          std::move(folder)};
}

}  // namespace

Task gauntlet_task() {
  const GauntletOptions defaults;
  return {
      "gauntlet",
      "two networks stepped by hand, made to be hard to clean up after",
      {{"epochs", std::to_string(defaults.epochs),
        "passes over the training data"},
       {"batch_size", std::to_string(defaults.batch_size), "points in a batch"},
       {"points", std::to_string(defaults.points), "points of the ring"},
       {"learning_rate", "0.001", "of both Adams"},
       {"workers", std::to_string(defaults.workers),
        "threads that prepare batches, but for training"}},
      make_gauntlet,
      make_gauntlet_world};
}

}  // namespace mishap::tasks
