// Sweeps every twin, each in a process of its own since some break the process,
// and prints which clauses noticed it.
#include <mishap/faultinject/sweep/driver.h>
#include <mishap/trainer/harness/contract/contract_subject.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "twin.h"

namespace mishap::testing {
namespace {

// Enough of each twin: its defect shows at most hits.
constexpr std::uint64_t kCasesOfATwin = 120;

std::string joined(const std::set<std::string>& clauses) {
  std::string text;
  for (const std::string& clause : clauses) {
    text += (text.empty() ? "" : " ") + clause;
  }
  return text.empty() ? "-" : text;
}

std::set<std::string> sweep(const Twin& twin, const std::string& folder) {
  setenv("MISHAP_TWIN_RECORDS", (folder + "/records.jsonl").c_str(), 1);
  if (twin.prepare != nullptr) {
    twin.prepare();
  }
  HarnessOptions harness;
  harness.capture.records = folder;
  harness.guard.steps = &twin.steps;
  harness.guard.cleanup_limit = twin.cleanup_limit;
  ContractSubject subject(twin.worlds, {"fit"}, harness);
  faultinject::sweep::Options options;
  options.actions = twin.actions;
  options.budget = kCasesOfATwin;
  if (!twin.points.empty()) {
    options.points.push_back(faultinject::NamePattern(twin.points));
  }
  const auto summary = run_sweep(subject, options);
  std::set<std::string> violated;
  for (const auto& clause : summary.clauses) {
    if (clause.violated > 0) {
      violated.insert(clause.name);
    }
  }
  if (summary.tally.ran == 0) {
    violated.insert("nothing-ran");
  }
  return violated;
}

// Prints one row; true when the twin was noticed as it has to be.
bool judge(const Twin& twin) {
  std::string folder =
      (std::filesystem::temp_directory_path() / "mishap-twin-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    std::perror("mishap twins: no temporary folder");
    return false;
  }
  const std::set<std::string> violated = sweep(twin, folder);
  std::filesystem::remove_all(folder);
  const bool right = violated == twin.clauses;
  std::printf("%-42s %-14s %-14s %s\n", twin.name.c_str(),
              joined(twin.clauses).c_str(), joined(violated).c_str(),
              right ? "caught" : "WRONG");
  return right;
}

bool in_child(const std::string& program, const std::string& kind,
              std::size_t index) {
  std::fflush(stdout);
  const std::string command =
      "'" + program + "' " + kind + ' ' + std::to_string(index);
  const int status = std::system(command.c_str());
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int run_all(const std::string& program) {
  std::printf("%-42s %-14s %-14s\n", "twin", "expected", "violated");
  const std::size_t twins = clause_twins().size();
  const std::size_t steps = twins_without_a_step().size();
  std::size_t caught = 0;
  for (std::size_t i = 0; i < twins; ++i) {
    caught += in_child(program, "twin", i) ? 1 : 0;
  }
  std::size_t steps_caught = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    steps_caught += in_child(program, "step", i) ? 1 : 0;
  }
  const bool all_steps_listed = steps == standard_steps().size();
  std::printf(
      "twins %zu of %zu as expected, steps left out %zu of %zu caught\n",
      caught, twins, steps_caught, standard_steps().size());
  return caught == twins && steps_caught == steps && all_steps_listed ? 0 : 1;
}

}  // namespace
}  // namespace mishap::testing

int main(int argc, char** argv) {
  using namespace mishap::testing;
  if (argc != 3) {
    return run_all(std::filesystem::read_symlink("/proc/self/exe").string());
  }
  const auto list =
      std::string(argv[1]) == "twin" ? clause_twins() : twins_without_a_step();
  return judge(list.at(std::stoul(argv[2]))) ? 0 : 1;
}
