#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench.h"

namespace mishap::bench {

std::vector<Row> sweep_rows(const std::string& folder) {
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "mishap";
  const std::string out = folder + "/sweep";
  const std::string command = "'" + program.string() +
                              "' sweep digits --out '" + out +
                              "' >/dev/null 2>&1";
  if (std::system(command.c_str()) != 0) {
    throw std::runtime_error("mishap sweep digits failed: run it by hand");
  }
  std::ifstream file(out + "/summary.json");
  const auto summary = nlohmann::json::parse(file);
  return {{"sweep_rate", summary.at("cases_per_second").get<double>(), 2000,
           "cases/s", false,
           "the digits world in-process, one core, every checker on"}};
}

}  // namespace mishap::bench
