#include <mishap/collector/torch/quiet_errors.h>
#include <mishap/trainer/cli_torch/components.h>
#include <mishap/trainer/cli_torch/run_command.h>
#include <mishap/trainer/cli_torch/run_watch.h>
#include <mishap/trainer/cli_torch/run_words.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/capture/reproduce.h>
#include <mishap/trainer/harness/capture/sinks.h>
#include <mishap/trainer/harness/cli/fault_option.h>
#include <mishap/trainer/harness/cli/named_program.h>
#include <mishap/trainer/harness/cli/values.h>
#include <mishap/trainer/harness/guard.h>
#include <mishap/trainer/testing/trainer_world.h>
#include <mishap/trainer/trainer.h>
#include <stdlib.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mishap::app {
namespace {

using Json = nlohmann::ordered_json;

// Names that tell where they come from already stay as they are.
std::string shown(const std::string& entry_point, const std::string& name) {
  return name.find('/') == std::string::npos ? entry_point + '/' + name : name;
}

// Prints what each entry point gave, as it ends or as one JSON text.
class Results {
 public:
  explicit Results(const RunWords& words) : is_json_(words.json) {
    json_["task"] = words.choice.task().name;
    json_["seed"] = words.choice.seed();
    json_["entry_points"] = Json::array();
  }

  void add(const std::string& entry_point, double seconds,
           const Metrics& metrics) {
    Json row{{"name", entry_point},
             {"seconds", seconds},
             {"metrics", Json::object()}};
    for (const auto& [name, value] : metrics) {
      row["metrics"][name] = value;
      if (!is_json_) {
        std::printf("%s %.4f\n", shown(entry_point, name).c_str(), value);
      }
    }
    if (!is_json_) {
      std::printf("%s/seconds %.2f\n", entry_point.c_str(), seconds);
      std::fflush(stdout);
    }
    json_["entry_points"].push_back(std::move(row));
  }

  void finish() const {
    if (is_json_) {
      std::puts(json_.dump(2).c_str());
    }
  }

 private:
  bool is_json_;
  Json json_;
};

HarnessOptions harness_options(const RunWords& words) {
  HarnessOptions options;
  options.capture.records = folder_for({});
  options.capture.rows_of_clean_runs = words.rows;
  return options;
}

Metrics call(Trainer& trainer, const TaskParts& parts,
             const std::string& entry_point, const std::string& checkpoint,
             const RunWatch& watch) {
  if (entry_point == "validate") {
    return trainer.validate(*parts.module, *parts.data, checkpoint);
  }
  if (entry_point == "test") {
    return trainer.test(*parts.module, *parts.data, checkpoint);
  }
  if (entry_point == "fit") {
    trainer.fit(*parts.module, *parts.data, checkpoint);
    return watch.fit_metrics();
  }
  double samples = 0;
  for (const torch::Tensor& batch :
       trainer.predict(*parts.module, *parts.data, checkpoint)) {
    samples += batch.dim() > 0 ? static_cast<double>(batch.size(0)) : 1;
  }
  return {{"samples", samples}};
}

// What can be wrong with the person's words is found while it is prepared.
using Work = std::function<void()>;

void train(const RunWords& words, const TaskParts& parts) {
  TrainerOptions options = *parts.trainer;
  if (!words.device.empty()) {
    options.device = words.device;
  }
  RunWatch watch;
  HarnessOptions harness = harness_options(words);
  harness.guard.observers.push_back(&watch);
  Trainer trainer(std::move(options), std::move(harness));
  Results results(words);
  std::string checkpoint = words.checkpoint;
  for (const std::string& entry_point : words.entry_points()) {
    const auto start = std::chrono::steady_clock::now();
    const Metrics metrics =
        call(trainer, parts, entry_point, checkpoint, watch);
    // What follows a fit uses what that has trained.
    checkpoint.clear();
    const std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start;
    results.add(entry_point, elapsed.count(), metrics);
  }
  results.finish();
}

Work prepare_training(const RunWords& words) {
  const TaskParts parts = words.choice.make();
  cli::check_fault_names(words.faults,
                         components_of(*parts.module, *parts.trainer),
                         trainer_entry_points());
  return [&words, parts] { train(words, parts); };
}

Work prepare_world(const RunWords& words) {
  collector::quiet_c10_errors();
  const std::shared_ptr<TrainerWorld> world =
      trainer_worlds(words.choice.world())();
  cli::check_fault_names(words.faults,
                         components_of(world->module(), world->options()),
                         trainer_entry_points());
  return [&words, world] {
    world->call(words.entry_point, harness_options(words));
  };
}

int run(const cli::Invocation& invocation) {
  cli::refuse_program(invocation);
  const std::optional<RunWords> words = read_run_words(invocation);
  if (!words) {
    return 0;
  }
  if (!words->records.empty()) {
    setenv("MISHAP_RECORDS",
           cli::absolute_path("--records", words->records).c_str(), 1);
  }
  if (getenv("MISHAP_RECORDS") != nullptr) {
    check_records_folder({});
  }
  set_reproduce_command(repeat_command(*words), FaultsGo::kBehind);

  // Bad words are no failure of a run: they leave no record.
  std::exception_ptr bad_input;
  const int status = guarded_main(0, nullptr, [&] {
    Work work;
    try {
      work = words->world ? prepare_world(*words) : prepare_training(*words);
    } catch (const InputError&) {
      bad_input = std::current_exception();
      return;
    }
    const cli::ArmedFaults armed(words->faults);
    work();
  });
  if (bad_input) {
    std::rethrow_exception(bad_input);
  }
  return status;
}

}  // namespace

cli::Command run_command() {
  return {"run", "train a task for real, guarded", run};
}

}  // namespace mishap::app
