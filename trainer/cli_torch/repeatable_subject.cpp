#include <mishap/trainer/cli_torch/repeatable_subject.h>
#include <mishap/trainer/cli_torch/run_words.h>
#include <mishap/trainer/harness/capture/reproduce.h>

namespace mishap::app {

RepeatableSubject::RepeatableSubject(faultinject::sweep::Subject& subject,
                                     const TaskChoice& choice)
    : subject_(subject) {
  for (const std::string& name : subject_.entry_points()) {
    commands_[name] = world_command(choice, name);
  }
}

std::vector<std::string> RepeatableSubject::entry_points() {
  return subject_.entry_points();
}

std::vector<faultinject::PointId> RepeatableSubject::baseline(
    std::string_view entry_point) {
  return subject_.baseline(entry_point);
}

faultinject::sweep::Scouted RepeatableSubject::scout(
    const faultinject::sweep::Case& first) {
  return subject_.scout(first);
}

faultinject::sweep::Verdict RepeatableSubject::run(
    const faultinject::sweep::Case& failing) {
  // The whole plan: a record is frozen before the second fault of a pair
  // strikes, and its label tells of one firing only.
  set_reproduce_command(commands_.at(failing.entry_point) + " --faults " +
                            shell_quoted(failing.spec),
                        FaultsGo::kInside);
  return subject_.run(failing);
}

}  // namespace mishap::app
