#include <mishap/trainer/harness/cli/doctor_command.h>
#include <mishap/trainer/harness/cli/program.h>
#include <mishap/trainer/harness/cli/program_commands.h>
#include <mishap/trainer/harness/cli/repro_command.h>
#include <mishap/trainer/harness/cli/show_command.h>
#include <mishap/trainer/harness/cli/torch_part.h>
#include <mishap/trainer/harness/cli/watch_command.h>

#include <vector>

int main(int argc, char** argv) {
  using namespace mishap::cli;
  Program program(program_name(argc, argv),
                  "Makes training failures happen on purpose, proves the "
                  "cleanup, records each.",
                  version_text());
  program.add(run_of_program_or_task());
  program.add(points_of_program_or_task());
  program.add(sweep_of_program_or_task());
  program.add(repro_command());
  program.add(show_command());
  program.add(watch_command());
  std::vector<Probe> probes = standard_probes();
  probes.push_back(torch_part_probe());
  program.add(doctor_command(std::move(probes)));
  program.add_hidden(not_yet("report", "see 'mishap show' and summary.json"));
  program.add_hidden(
      not_yet("dataset", "records.jsonl is one JSON object a line"));
  return program.main(argc, argv);
}
