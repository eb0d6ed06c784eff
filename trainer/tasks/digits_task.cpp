#include <mishap/trainer/engine/callbacks/early_stopping.h>
#include <mishap/trainer/engine/callbacks/model_checkpoint.h>
#include <mishap/trainer/engine/loggers/jsonl_logger.h>
#include <mishap/trainer/engine/options.h>
#include <mishap/trainer/tasks/digits.h>
#include <mishap/trainer/tasks/digits_task.h>
#include <mishap/trainer/tasks/find_data.h>
#include <mishap/trainer/testing/spied.h>
#include <mishap/trainer/testing/world_folder.h>

#include <memory>

namespace mishap::tasks {
namespace {

constexpr std::int64_t kMost = 1'000'000;

// Only what was given, so that the world stays small.
void apply(const TaskSettings& settings, DigitsOptions& options) {
  options.data = find_data("digits/digits.csv", settings.text("data"));
  settings.integer_if_given("epochs", 1, kMost, options.epochs);
  settings.integer_if_given("batch_size", 1, kMost, options.batch_size);
  settings.number_if_given("learning_rate", 0, 10, options.learning_rate);
  settings.integer_if_given("classes", 1, 1000, options.classes);
  settings.integer_if_given("workers", 0, 64, options.workers);
}

TrainerOptions trainer_options(const DigitsOptions& digits) {
  TrainerOptions options;
  options.max_epochs = digits.epochs;
  options.gradient_clip_norm = 1.0;
  return options;
}

TaskParts make(const TaskSettings& settings) {
  DigitsOptions options;
  apply(settings, options);
  TrainerOptions trainer = trainer_options(options);
  if (settings.given("checkpoints")) {
    trainer.callbacks.push_back(std::make_shared<ModelCheckpoint>(
        ModelCheckpointOptions{.folder = settings.text("checkpoints"),
                               .monitor = "loss",
                               .save_last = true,
                               .save_on_exception = true}));
  }
  return {std::make_shared<DigitsModule>(options),
          std::make_shared<DigitsData>(options),
          std::make_shared<TrainerOptions>(std::move(trainer))};
}

TaskParts make_world(Journal& journal, const TaskSettings& settings) {
  DigitsOptions options = tiny_digits();
  apply(settings, options);
  TrainerOptions trainer = trainer_options(options);
  trainer.num_sanity_val_steps = 1;
  trainer.log_every_n_steps = 1;
  std::shared_ptr<void> folder = make_world_folder(trainer);
  trainer.callbacks = {
      std::make_shared<EarlyStopping>(
          EarlyStoppingOptions{.monitor = "loss", .patience = 100}),
      std::make_shared<ModelCheckpoint>(ModelCheckpointOptions{
          .monitor = "loss", .save_last = true, .save_on_exception = true})};
  trainer.loggers = {std::make_shared<JsonlLogger>(trainer.root_dir)};
  return {std::make_shared<Spied<DigitsModule>>(journal, options),
          std::make_shared<Spied<DigitsData>>(journal, options),
          std::make_shared<TrainerOptions>(std::move(trainer)),
          std::move(folder)};
}

}  // namespace

Task digits_task() {
  const DigitsOptions defaults;
  return {
      "digits",
      "handwritten digits, 1,797 images of 8×8 pixels",
      {{"epochs", std::to_string(defaults.epochs),
        "passes over the training data"},
       {"batch_size", std::to_string(defaults.batch_size), "images in a batch"},
       {"learning_rate", "0.1", "of SGD with momentum"},
       {"classes", std::to_string(defaults.classes),
        "digits that the model can name; fewer than 10 fail in LibTorch"},
       {"workers", std::to_string(defaults.workers),
        "threads that prepare batches"},
       {"checkpoints", "",
        "folder for checkpoints: the best, the last, one of a failure; none "
        "when empty"},
       {"data", "",
        "folder with digits/digits.csv; found by itself when empty"}},
      make,
      make_world};
}

}  // namespace mishap::tasks
