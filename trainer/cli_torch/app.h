#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mishap {

class DataModule;
class Journal;
class Module;
struct TrainerOptions;

/// One setting of a task: `--set name=value`.
struct TaskSetting {
  std::string name;
  std::string default_value;
  /// What it means, in what unit.
  std::string help;
};

/// The settings of a task with the values that were given.
class TaskSettings {
 public:
  explicit TaskSettings(const std::vector<TaskSetting>& known);

  /// Throws InputError for an unknown name, with a suggestion.
  void set(const std::string& name, const std::string& value);
  /// Throws InputError when the value is no whole number in [low, high].
  std::int64_t integer(const std::string& name, std::int64_t low,
                       std::int64_t high) const;
  /// Throws InputError when the value is no number in [low, high].
  double number(const std::string& name, double low, double high) const;
  /// The same, into a variable that stays as it is when no value was set: a
  /// world keeps the small sizes that it has.
  void integer_if_given(const std::string& name, std::int64_t low,
                        std::int64_t high, std::int64_t& into) const;
  void number_if_given(const std::string& name, double low, double high,
                       double& into) const;
  const std::string& text(const std::string& name) const;
  bool has(const std::string& name) const noexcept;
  /// Whether a value was set, as opposed to the default.
  bool given(const std::string& name) const;
  /// With the values that hold now.
  const std::vector<TaskSetting>& all() const noexcept { return values_; }

 private:
  const TaskSetting& find(const std::string& name) const;

  std::vector<TaskSetting> values_;
  std::vector<std::string> given_;
};

/// What a run of a task is made of.
struct TaskParts {
  std::shared_ptr<Module> module;
  std::shared_ptr<DataModule> data;
  std::shared_ptr<TrainerOptions> trainer;
  /// Whatever else must live as long: a folder of its own for a world.
  std::shared_ptr<void> keeps = nullptr;
};

/// A training job that the commands `run`, `points`, `sweep` and `repro` know
/// by name.
struct Task {
  std::string name;
  /// One line for `mishap --help`.
  std::string summary;
  std::vector<TaskSetting> settings;
  /// The real thing. LibTorch's generators were seeded before, by `--seed` or
  /// with 1; `--seed` also replaces the seed in the trainer's options.
  std::function<TaskParts(const TaskSettings&)> make;
  /// The sweep's world: the same classes with everything switched on at the
  /// smallest sizes, module and data as mishap::Spied<...> over the journal.
  /// Seeded as `make` is; two calls must give parts that behave the same.
  std::function<TaskParts(Journal&, const TaskSettings&)> make_world;
};

namespace app {

/// Makes a task known to main(). Throws std::invalid_argument for a name that
/// is taken.
void register_task(Task task);

/// All registered tasks, in the order of registration.
const std::vector<Task>& tasks();

/// The commands `run`, `points`, `sweep`, `show`, `repro` and `doctor` over the
/// registered tasks. Returns the status for main: 0 success, 1 failure, 2 bad
/// input, 3 contract violated, 128 + n signal n.
///
///     int main(int argc, char** argv) {
///       mishap::app::register_task({.name = "digits", ...});
///       return mishap::app::main(argc, argv);
///     }
int main(int argc, char** argv);

}  // namespace app
}  // namespace mishap
