#include <mishap/faultinject/suggestion.h>
#include <mishap/trainer/cli_torch/task_choice.h>
#include <mishap/trainer/engine/options.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/capture/reproduce.h>
#include <mishap/trainer/harness/cli/torch_part.h>
#include <mishap/trainer/harness/cli/values.h>
#include <torch/torch.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace mishap::app {
namespace {

constexpr std::uint64_t kDefaultSeed = 1;

const Task& find_task(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Task& task : tasks()) {
    if (task.name == name) {
      return task;
    }
    names.push_back(task.name);
  }
  const std::string all = names.empty()
                              ? "this program has none"
                              : "the tasks are " + faultinject::join(names);
  throw InputError("there is no task '" + name + "'; " +
                   faultinject::did_you_mean(name, names, all));
}

// A task of a user may have forgotten a part.
TaskParts checked(TaskParts parts, const Task& task,
                  std::optional<std::uint64_t> seed) {
  if (!parts.module || !parts.data || !parts.trainer) {
    throw InputError("the task '" + task.name + "' made no " +
                     (!parts.module ? "module"
                      : !parts.data ? "data"
                                    : "trainer options") +
                     "; its make function has to return all three");
  }
  if (seed || !parts.trainer->seed) {
    parts.trainer->seed = seed.value_or(kDefaultSeed);
  }
  return parts;
}

}  // namespace

void TaskChoice::add_to(cli::CommandLine& line) {
  line.positional("TASK", name_, "the task's name");
  line.option("--set", sets_, "NAME=VALUE",
              "gives a setting of the task another value");
  line.option("--seed", seed_word_, "N",
              "seeds weights and order of the data; 1 unless the task has its "
              "own");
  line.option("--data", data_, "DIR", "the folder that holds the task's data");
  std::string footer;
  for (const Task& task : tasks()) {
    footer += "Settings of " + task.name + ":\n";
    for (const TaskSetting& setting : task.settings) {
      footer += "  " + setting.name + '=' + setting.default_value + "  " +
                setting.help + '\n';
    }
  }
  line.footer(footer);
}

void TaskChoice::resolve() {
  task_ = &find_task(name_);
  if (!seed_word_.empty()) {
    seed_ = cli::unsigned_number("--seed", seed_word_);
  }
  settings_ = TaskSettings(task_->settings);
  for (const std::string& set : sets_) {
    const auto [name, value] = cli::assignment("--set", set);
    settings_.set(name, value);
  }
  if (data_.empty()) {
    return;
  }
  if (!settings_.has("data")) {
    throw InputError("the task '" + name_ +
                     "' has no setting data, so --data means nothing to it");
  }
  std::error_code error;
  const auto folder = std::filesystem::canonical(data_, error);
  if (error) {
    throw InputError("--data: the folder " + data_ +
                     " cannot be opened: " + error.message());
  }
  data_ = folder.string();
  settings_.set("data", data_);
}

std::uint64_t TaskChoice::seed() const noexcept {
  return seed_.value_or(kDefaultSeed);
}

TaskParts TaskChoice::make() const {
  torch::manual_seed(seed());
  return checked(task_->make(settings_), *task_, seed_);
}

std::function<TaskParts(Journal&)> TaskChoice::world() const {
  if (!task_->make_world) {
    throw InputError("the task '" + task_->name +
                     "' has no world to sweep; give it a make_world");
  }
  return [task = task_, settings = settings_, seed = seed_](Journal& journal) {
    torch::manual_seed(seed.value_or(kDefaultSeed));
    return checked(task->make_world(journal, settings), *task, seed);
  };
}

std::string TaskChoice::command(const std::string& command) const {
  std::string line = shell_quoted(cli::front_program());
  line += ' ' + command + ' ' + shell_quoted(name_);
  if (seed_) {
    line += " --seed " + std::to_string(*seed_);
  }
  for (const std::string& set : sets_) {
    line += " --set " + shell_quoted(set);
  }
  if (!data_.empty()) {
    line += " --data " + shell_quoted(data_);
  }
  return line;
}

}  // namespace mishap::app
