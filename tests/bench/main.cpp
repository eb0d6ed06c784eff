#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench.h"

namespace {

using mishap::bench::Row;

void print_table(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    std::printf("%-22s %10.2f %-8s %s %8.2f  %s\n    %s\n", row.name.c_str(),
                row.figure, row.unit.c_str(),
                row.at_most ? "<=" : ">=", row.target_here(),
                row.met() ? "met" : "NOT MET", row.note.c_str());
    if (!row.yardstick.what.empty()) {
      std::printf("    target %g where %s takes %g %s; here it takes %.1f\n",
                  row.target, row.yardstick.what.c_str(),
                  row.yardstick.reference, row.yardstick.unit.c_str(),
                  row.yardstick.measured);
    }
  }
}

void print_json(const std::vector<Row>& rows) {
  nlohmann::json all = nlohmann::json::array();
  for (const Row& row : rows) {
    all.push_back({{"name", row.name},
                   {"figure", row.figure},
                   {"target", row.target},
                   {"target_here", row.target_here()},
                   {"unit", row.unit},
                   {"at_most", row.at_most},
                   {"met", row.met()},
                   {"yardstick",
                    {{"what", row.yardstick.what},
                     {"unit", row.yardstick.unit},
                     {"measured", row.yardstick.measured},
                     {"reference", row.yardstick.reference}}},
                   {"note", row.note}});
  }
  std::printf("%s\n", all.dump(2).c_str());
}

struct Group {
  std::string_view name;
  std::vector<Row> (*rows)(const std::string& folder);
};
constexpr std::array<Group, 4> kGroups{
    {{"core", mishap::bench::core_rows},
     {"trainer", mishap::bench::trainer_rows},
     {"sweep", mishap::bench::sweep_rows},
     {"program", mishap::bench::program_rows}}};

struct Words {
  bool json = false;
  /// The group to measure; all when empty.
  std::string_view only;
  /// What cannot be understood; empty when all can.
  std::string_view wrong;
};

Words read(int argc, char** argv) {
  Words words;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json") {
      words.json = true;
    } else if (word == "--only" && i + 1 < argc) {
      words.only = argv[++i];
      if (std::ranges::find(kGroups, words.only, &Group::name) ==
          kGroups.end()) {
        words.wrong = words.only;
      }
    } else {
      words.wrong = word;
    }
  }
  return words;
}

std::vector<Row> measure(const std::string& folder, std::string_view only) {
  std::vector<Row> rows;
  for (const Group& group : kGroups) {
    if (only.empty() || only == group.name) {
      std::ranges::move(group.rows(folder), std::back_inserter(rows));
    }
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  const Words words = read(argc, argv);
  if (!words.wrong.empty()) {
    std::fprintf(stderr,
                 "mishap-bench: '%s' is not understood: use --json and --only "
                 "core|trainer|sweep|program\n",
                 std::string(words.wrong).c_str());
    return 2;
  }
  std::string folder =
      (std::filesystem::temp_directory_path() / "mishap-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    std::fprintf(stderr, "mishap-bench: no temporary folder could be made\n");
    return 1;
  }
  int status = 0;
  try {
    const std::vector<Row> rows = measure(folder, words.only);
    words.json ? print_json(rows) : print_table(rows);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mishap-bench: %s\n", error.what());
    status = 1;
  }
  std::filesystem::remove_all(folder);
  return status;
}
