#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "bench.h"

namespace {

using mishap::bench::Row;

void print_table(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    std::printf("%-22s %12.2f %-8s %s %10.2f  %s\n    %s\n", row.name.c_str(),
                row.figure, row.unit.c_str(),
                row.at_most ? "<=" : ">=", row.target,
                row.met() ? "met" : "NOT MET", row.note.c_str());
  }
}

void print_json(const std::vector<Row>& rows) {
  nlohmann::json all = nlohmann::json::array();
  for (const Row& row : rows) {
    all.push_back({{"name", row.name},
                   {"figure", row.figure},
                   {"target", row.target},
                   {"unit", row.unit},
                   {"at_most", row.at_most},
                   {"met", row.met()},
                   {"note", row.note}});
  }
  std::printf("%s\n", all.dump(2).c_str());
}

std::vector<Row> measure(const std::string& folder) {
  std::vector<Row> rows = mishap::bench::core_rows(folder);
  for (Row& row : mishap::bench::trainer_rows(folder)) {
    rows.push_back(std::move(row));
  }
  for (Row& row : mishap::bench::sweep_rows(folder)) {
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = argc == 2 && std::strcmp(argv[1], "--json") == 0;
  if (argc > 1 && !json) {
    std::fprintf(stderr, "mishap-bench: unknown option '%s': use --json\n",
                 argv[1]);
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
    const std::vector<Row> rows = measure(folder);
    json ? print_json(rows) : print_table(rows);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mishap-bench: %s\n", error.what());
    status = 1;
  }
  std::filesystem::remove_all(folder);
  return status;
}
