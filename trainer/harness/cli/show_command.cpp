#include <mishap/collector/show.h>
#include <mishap/trainer/harness/cli/command_line.h>
#include <mishap/trainer/harness/cli/records_input.h>
#include <mishap/trainer/harness/cli/show_command.h>
#include <mishap/trainer/harness/cli/stored_frames.h>
#include <mishap/trainer/harness/cli/terminal.h>
#include <mishap/trainer/harness/cli/values.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace mishap::cli {
namespace {

constexpr std::int64_t kMostRecords = 1'000'000;

void print(const collector::StoredRecord& record, const std::string& folder,
           const std::vector<std::string>& debug_folders) {
  std::optional<StoredFrames> frames;
  collector::ShowOptions options;
  options.colour = wants_colour(stdout);
  options.name_frame = [&](const collector::UnnamedFrame& frame) {
    if (!frames) {
      frames.emplace(folder, record.text("/run_id").value_or(""),
                     debug_folders);
      frames->look_up(record);
    }
    return frames->name(frame);
  };
  const std::string text = collector::show(record, options);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int run(const Invocation& invocation) {
  std::string file;
  std::string id;
  std::string limit = "20";
  std::vector<std::string> debug_folders;
  bool all = false;
  bool json = false;
  CommandLine line(invocation,
                   "Shows the last record of a file, or another one.");
  line.positional("FILE", file,
                  "records.jsonl, a folder that holds one, or - for standard "
                  "input");
  line.option("--id", id, "ID", "the record whose id is, or begins with, ID");
  line.option("--debug-dir", debug_folders, "DIR",
              "look for debug files in DIR too, as .build-id/xx/yyyy.debug or "
              "by name; DEBUGINFOD_URLS is asked last");
  line.flag("--all", all, "all records, the last ones when there are many");
  line.option("--limit", limit, "N", "with --all: at most so many");
  line.flag("--json", json, "the lines as they stand in the file");
  if (!line.parse()) {
    return 0;
  }
  RecordChoice choice;
  choice.id = id;
  if (all) {
    choice.last = static_cast<std::size_t>(
        whole_number("--limit", limit, 1, kMostRecords));
  }
  const ChosenRecords chosen = read_records(file, choice);
  bool is_first = true;
  for (const collector::StoredRecord& record : chosen.records) {
    if (json) {
      std::puts(record.line().c_str());
      continue;
    }
    std::fputs(is_first ? "" : "\n", stdout);
    is_first = false;
    print(record, chosen.folder, debug_folders);
  }
  const std::size_t left_out = chosen.total - chosen.records.size();
  if (all && left_out > 0 && !json) {
    std::printf("\n%zu earlier records are left out; --limit shows more\n",
                left_out);
  }
  return 0;
}

}  // namespace

Command show_command() {
  return {"show", "show a record: what, where, why, how to repeat it", run};
}

}  // namespace mishap::cli
