#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "sample_records.h"

namespace mishap::collector {
namespace {

// MISHAP_UPDATE_GOLDEN=1 writes the files anew.
void expect_golden(const std::string& name, const std::string& line) {
  const std::string path = std::string(MISHAP_GOLDEN_FOLDER) + "/" + name;
  if (std::getenv("MISHAP_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << line << '\n';
  }
  std::ifstream file(path);
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(golden, line + "\n") << path;
}

TEST(GoldenRecords, AMinimalRecordHasEveryKey) {
  expect_golden("minimal.jsonl", samples::line_of(samples::minimal()));
}

TEST(GoldenRecords, ATypicalRecordStaysAsItIs) {
  expect_golden("typical.jsonl", samples::line_of(samples::typical()));
}

TEST(GoldenRecords, AMaximalRecordHasEveryValue) {
  expect_golden("maximal.jsonl", samples::line_of(samples::maximal()));
}

TEST(GoldenRecords, ARunRowHasEveryValue) {
  expect_golden("runs.jsonl", samples::line_of(samples::maximal_run()));
}

}  // namespace
}  // namespace mishap::collector
