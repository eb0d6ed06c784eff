#include <mishap/trainer/cli_torch/run_words.h>
#include <mishap/trainer/engine/device.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/capture/reproduce.h>
#include <mishap/trainer/harness/cli/values.h>
#include <mishap/trainer/testing/trainer_world.h>

#include <optional>
#include <string_view>

namespace mishap::app {
namespace {

constexpr std::string_view kAll = "all";

}  // namespace

std::vector<std::string> RunWords::entry_points() const {
  return entry_point == kAll ? trainer_entry_points()
                             : std::vector<std::string>{entry_point};
}

std::optional<RunWords> read_run_words(const cli::Invocation& invocation) {
  RunWords words;
  cli::CommandLine line(invocation,
                        "Trains a task for real. Every failure leaves a record "
                        "and comes out in the exit status.");
  words.choice.add_to(line);
  line.option("--entry", words.entry_point, "NAME",
              "fit, validate, test, predict, or all of them in turn");
  line.option("--device", words.device, "DEVICE", "cpu, cuda, cuda:1 or auto");
  line.option("--checkpoint", words.checkpoint, "FILE",
              "fit goes on exactly where the fit was that saved it; validate, "
              "test and predict use its weights");
  line.option("--faults", words.faults, "SPEC",
              "a fault plan, such as 'hook/training_step/module=1*throw(c10)'");
  line.option("--records", words.records, "DIR",
              "folder for records; else MISHAP_RECORDS, else mishap-records");
  line.flag("--rows", words.rows,
            "also write a row of runs.jsonl for runs that go well");
  line.flag("--world", words.world,
            "run the sweep's world instead: smallest sizes, spies, everything "
            "on");
  line.flag("--json", words.json, "print the metrics as JSON");
  if (!line.parse()) {
    return std::nullopt;
  }
  words.choice.resolve();
  std::vector<std::string_view> known(trainer_entry_points().begin(),
                                      trainer_entry_points().end());
  known.push_back(kAll);
  words.entry_point = cli::one_of("--entry", words.entry_point, known);
  if (words.world && !words.checkpoint.empty()) {
    throw InputError("--world starts from nothing; leave out --checkpoint");
  }
  if (!words.checkpoint.empty()) {
    words.checkpoint = cli::absolute_path("--checkpoint", words.checkpoint);
  }
  if (words.world && !words.device.empty()) {
    throw InputError("--world runs on the CPU; leave out --device");
  }
  if (!words.device.empty()) {
    device_from(words.device);
  }
  if (words.world && words.entry_point == kAll) {
    throw InputError(
        "--world runs one entry point; name it with --entry, such as --entry "
        "fit");
  }
  return words;
}

std::string repeat_command(const RunWords& words) {
  if (words.world) {
    return world_command(words.choice, words.entry_point);
  }
  std::string command =
      words.choice.command("run") + " --entry " + words.entry_point;
  if (!words.device.empty()) {
    command += " --device " + shell_quoted(words.device);
  }
  if (!words.checkpoint.empty()) {
    command += " --checkpoint " + shell_quoted(words.checkpoint);
  }
  return command;
}

std::string world_command(const TaskChoice& choice,
                          const std::string& entry_point) {
  return choice.command("run") + " --world --entry " + entry_point;
}

}  // namespace mishap::app
