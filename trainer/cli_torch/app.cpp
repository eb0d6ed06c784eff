#include <mishap/collector/throw_site.h>
#include <mishap/faultinject/torch/throw_types.h>
#include <mishap/trainer/cli_torch/app.h>
#include <mishap/trainer/cli_torch/run_command.h>
#include <mishap/trainer/cli_torch/sweep_command.h>
#include <mishap/trainer/harness/cli/doctor_command.h>
#include <mishap/trainer/harness/cli/program.h>
#include <mishap/trainer/harness/cli/repro_command.h>
#include <mishap/trainer/harness/cli/show_command.h>
#include <torch/torch.h>
#include <torch/version.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace mishap::app {
namespace {

const std::string kLibTorch = "LibTorch " +
                              std::to_string(TORCH_VERSION_MAJOR) + '.' +
                              std::to_string(TORCH_VERSION_MINOR) + '.' +
                              std::to_string(TORCH_VERSION_PATCH);

std::vector<Task>& registry() {
  static std::vector<Task> registered;
  return registered;
}

cli::Finding look_at_libtorch() {
  const collector::ThrowCaptureScope capture;
  try {
    torch::zeros({2}).reshape({3});
  } catch (const c10::Error&) {
    if (collector::find_throw_site(std::current_exception())) {
      return {cli::Finding::Status::kOk,
              kLibTorch + "; the place of its own throws is known", ""};
    }
    return {cli::Finding::Status::kFail,
            kLibTorch + "; its throws are not seen",
            "link mishap::app into the executable itself"};
  }
  return {cli::Finding::Status::kFail,
          kLibTorch + " reshaped two elements into three",
          "install the LibTorch that this program was built against"};
}

}  // namespace

void register_task(Task task) {
  const auto same = std::ranges::find(registry(), task.name, &Task::name);
  if (same != registry().end()) {
    throw std::invalid_argument("there is a task '" + task.name +
                                "' already; give this one another name");
  }
  registry().push_back(std::move(task));
}

const std::vector<Task>& tasks() { return registry(); }

int main(int argc, char** argv) {
  faultinject::register_torch_throw_types();
  cli::Program program(cli::program_name(argc, argv),
                       "Makes training failures happen on purpose, proves the "
                       "cleanup, records each.",
                       cli::version_text() + ", " + kLibTorch);
  program.add(run_command());
  program.add(points_command());
  program.add(sweep_command());
  program.add(cli::repro_command());
  program.add(cli::show_command());
  std::vector<cli::Probe> probes = cli::standard_probes();
  probes.push_back({"LibTorch", look_at_libtorch});
  program.add(cli::doctor_command(std::move(probes)));
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Task& task : tasks()) {
    rows.emplace_back(task.name, task.summary);
  }
  program.add_section("tasks", std::move(rows));
  return program.main(argc, argv);
}

}  // namespace mishap::app
