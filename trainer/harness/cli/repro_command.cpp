#include <mishap/collector/reader.h>
#include <mishap/faultinject/sweep/case.h>
#include <mishap/trainer/harness/cli/child.h>
#include <mishap/trainer/harness/cli/command_line.h>
#include <mishap/trainer/harness/cli/compare_records.h>
#include <mishap/trainer/harness/cli/records_input.h>
#include <mishap/trainer/harness/cli/repro_command.h>
#include <mishap/trainer/harness/cli/torch_part.h>
#include <mishap/trainer/harness/program/command_text.h>
#include <mishap/trainer/harness/program/plan_cases.h>
#include <mishap/trainer/harness/scratch_folder.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace mishap::cli {
namespace {

using collector::StoredRecord;

std::vector<StoredRecord> records_in(const std::string& folder) {
  std::vector<StoredRecord> records;
  const std::string path = folder + "/records.jsonl";
  std::ifstream file(path);
  if (!file) {
    return records;
  }
  collector::RecordReader reader(file, path);
  while (std::optional<StoredRecord> record = reader.next()) {
    records.push_back(*std::move(record));
  }
  return records;
}

// Why no command makes that failure happen again; empty when one may.
std::string why_hopeless(const StoredRecord& record) {
  const std::string kind = record.text("/kind").value_or("");
  const bool has_fault = record.text("/fault/point").has_value();
  if (kind == "interrupt" && !has_fault) {
    return "it was interrupted from outside by " +
           record.text("/interrupt/signal").value_or("a signal") +
           ", which no command repeats";
  }
  if (kind == "killed" && !has_fault) {
    return "its process was ended from outside, which no command repeats";
  }
  if (!record.text("/reproduce")) {
    return "the record names no command";
  }
  return {};
}

// What stands between the fault and the program: the options without which its
// hits are others.
std::string options_after(const std::string& told, const std::string& fault,
                          std::size_t end) {
  const std::size_t at = told.find(fault);
  const std::size_t begin = at + fault.size();
  return at == std::string::npos || begin > end
             ? std::string()
             : told.substr(begin, end - begin);
}

// A case of a sweep of a program is tried as the sweep tried it, since a fault
// that nobody heard of leaves no record of its own.
std::string command_of(const StoredRecord& record, const std::string& folder) {
  const std::string told = *record.text("/reproduce");
  const auto point = record.text("/fault/point");
  const auto hit = record.integer("/fault/hit");
  const auto action = record.text("/fault/action");
  const std::size_t end = told.find(" -- ");
  if (record.text("/entry_point") != program::kEntryPoint || !point || !hit ||
      !action || end == std::string::npos) {
    return told;
  }
  namespace sweep = faultinject::sweep;
  const auto number = static_cast<std::uint64_t>(*hit);
  const bool is_transient =
      sweep::case_spec(*point, number, *action, sweep::Mode::kTransient) ==
      record.text("/fault/spec");
  const sweep::Case failing = sweep::make_case(
      program::kEntryPoint, faultinject::intern(*point), number, *action,
      is_transient ? sweep::Mode::kTransient : sweep::Mode::kPersistent);
  std::string more = options_after(
      told, " --faults " + program::shell_line({failing.spec}), end);
  if (more.empty()) {
    more = options_after(told, " --case " + program::shell_line({failing.id}),
                         end);
  }
  return program::shell_line({front_program(), "sweep", "--out", folder,
                              "--case", failing.id}) +
         (more.find(" --no-fork") == std::string::npos ? " --no-fork" : "") +
         more + told.substr(end);
}

std::optional<std::string> other_end(const StoredRecord& recorded,
                                     const StoredRecord& again) {
  for (const std::string pointer : {"/exit/status", "/exit/signal"}) {
    if (recorded.text("/entry_point") == program::kEntryPoint &&
        recorded.integer(pointer) != again.integer(pointer)) {
      return "it ended in another way: " + pointer.substr(1) +
             " is not the same";
    }
  }
  return std::nullopt;
}

ChildResult run_again(const std::string& command, const std::string& folder) {
  ChildEnvironment environment;
  environment.set = {{"MISHAP_RECORDS", folder}};
  environment.unset = {"MISHAP_FAULTS", "MISHAP_FAULTS_FILE", "MISHAP_SEED",
                       "GITHUB_ACTIONS"};
  return run_child({"/bin/sh", "-c", command}, environment);
}

// The difference to the record that comes nearest; nothing when one is equal.
std::optional<std::string> difference_to_all(
    const StoredRecord& recorded, const std::vector<StoredRecord>& again,
    const ChildResult& result) {
  if (again.empty()) {
    return "the command ended with status " + std::to_string(result.status) +
           " and left no record";
  }
  std::optional<std::string> nearest;
  for (const StoredRecord& candidate : again) {
    auto difference = first_difference(recorded, candidate);
    if (!difference) {
      difference = other_end(recorded, candidate);
    }
    if (!difference) {
      return std::nullopt;
    }
    const bool is_same_call =
        candidate.text("/entry_point") == recorded.text("/entry_point");
    if (!nearest || is_same_call) {
      nearest = difference;
    }
  }
  return nearest;
}

int run(const Invocation& invocation) {
  std::string file;
  std::string id;
  bool verbose = false;
  CommandLine line(invocation,
                   "Runs the command of a record again, with its faults, and "
                   "says whether the same failure comes out.");
  line.positional("RECORD", file,
                  "records.jsonl, a folder that holds one, or - for standard "
                  "input");
  line.option("--id", id, "ID",
              "the record whose id is, or begins with, ID; else the last one");
  line.flag("--verbose", verbose, "show what the command prints");
  if (!line.parse()) {
    return 0;
  }
  RecordChoice choice;
  choice.id = id;
  const StoredRecord recorded = read_records(file, choice).records.front();
  std::printf("record %s\n", recorded.id().c_str());
  if (const std::string why = why_hopeless(recorded); !why.empty()) {
    std::printf("cannot be reproduced: %s\n", why.c_str());
    return 1;
  }
  ScratchFolder folder;
  const std::string command = command_of(recorded, folder.path());
  std::printf("again  %s\n", command.c_str());
  std::fflush(stdout);

  const ChildResult result = run_again(command, folder.path());
  if (verbose) {
    std::fputs(result.output.c_str(), stdout);
    std::fputs(result.errors.c_str(), stderr);
  }
  const auto difference =
      difference_to_all(recorded, records_in(folder.path()), result);
  if (!difference) {
    std::printf(
        "reproduced: %s\n",
        recorded.text("/exceptions/0/type")
            .value_or(recorded.text("/fault/spec")
                          .value_or(recorded.text("/kind").value_or("")))
            .c_str());
    return 0;
  }
  std::printf("not reproduced: %s\n", difference->c_str());
  if (!verbose) {
    std::fputs(result.errors.c_str(), stderr);
  }
  return 1;
}

}  // namespace

Command repro_command() {
  return {"repro", "repeat a recorded failure, or say what differs", run};
}

}  // namespace mishap::cli
