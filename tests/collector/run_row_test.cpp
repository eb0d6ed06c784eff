#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/collector/redact.h>
#include <mishap/collector/run_facts.h>
#include <mishap/collector/run_row.h>
#include <stdlib.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "allocation_counter.h"
#include "sample_records.h"

namespace mishap::collector {
namespace {

using nlohmann::json;

json row_of(const RunFacts& facts) {
  RunRow row = samples::minimal_run();
  facts.fill(row);
  return json::parse(samples::line_of(row));
}

json value_of(const json& pairs, const std::string& name) {
  for (const json& pair : pairs) {
    if (pair["name"] == name) return pair["value"];
  }
  return "absent";
}

TEST(RunRow, IsWrittenWithoutAllocation) {
  std::vector<char> buffer(kRunRowBufferBytes);
  const RunRow row = samples::maximal_run();
  const std::size_t before = allocations();
  const std::size_t size = write_run_row(row, buffer);
  EXPECT_EQ(allocations(), before);
  EXPECT_TRUE(json::accept(std::string(buffer.data(), size)));
}

TEST(RunRow, ShortensWhatWouldNotFit) {
  const std::string path(2'000, 'p');
  const std::vector<RunModule> modules(
      1'000,
      RunModule{.path = path, .build_id = "00", .load_address = 1, .size = 1});
  RunRow row = samples::minimal_run();
  row.modules = modules;
  const json line = json::parse(samples::line_of(row));
  EXPECT_FALSE(line["modules"].empty());
  EXPECT_FALSE(line["truncated"].empty());
}

TEST(RunFacts, SayWhatWasBuiltAndWhereItRuns) {
  const json row = row_of(RunFacts::gather());
  EXPECT_THAT(row["build"]["mishap"].get<std::string>(),
              testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_FALSE(row["build"]["compiler"].is_null());
  EXPECT_THAT(row["host"]["system"].get<std::string>(),
              testing::StartsWith("Linux "));
  EXPECT_GT(row["host"]["cpus"], 0);
  EXPECT_GT(row["host"]["memory_bytes"], 0);
  EXPECT_EQ(row["pid"], getpid());
  EXPECT_THAT(row["command_line"][0].get<std::string>(),
              testing::HasSubstr("collector_tests"));
}

TEST(RunFacts, KeepTheAllowedVariablesOnlyAndNoSecret) {
  setenv("OMP_NUM_THREADS", "3", 1);
  setenv("LOCAL_RANK", "2", 1);
  setenv("MISHAP_API_TOKEN", "hush", 1);
  setenv("SOMETHING_ELSE", "private", 1);
  const json row = row_of(RunFacts::gather());
  EXPECT_EQ(value_of(row["environment"], "OMP_NUM_THREADS"), "3");
  EXPECT_EQ(value_of(row["environment"], "LOCAL_RANK"), "2");
  EXPECT_EQ(value_of(row["environment"], "MISHAP_API_TOKEN"), kRedacted);
  EXPECT_EQ(value_of(row["environment"], "SOMETHING_ELSE"), "absent");
  EXPECT_EQ(row.dump().find("hush"), std::string::npos);
  unsetenv("LOCAL_RANK");
  unsetenv("MISHAP_API_TOKEN");
  unsetenv("SOMETHING_ELSE");
}

TEST(RunFacts, NameTheBatchJob) {
  setenv("SLURM_JOB_ID", "123", 1);
  setenv("SLURM_JOB_NODELIST", "node[1-2]", 1);
  const json row = row_of(RunFacts::gather());
  EXPECT_EQ(row["job"]["scheduler"], "slurm");
  EXPECT_EQ(row["job"]["id"], "123");
  EXPECT_EQ(row["job"]["nodes"], "node[1-2]");
  EXPECT_TRUE(row["job"]["step"].is_null());
  unsetenv("SLURM_JOB_ID");
  unsetenv("SLURM_JOB_NODELIST");
}

TEST(RunFacts, StayValidWhenMoved) {
  RunFacts first = RunFacts::gather();
  const json before = row_of(first);
  const RunFacts second = std::move(first);
  EXPECT_EQ(row_of(second), before);
}

TEST(Redact, KnowsSecretsHoweverTheyAreSpelt) {
  for (const auto name :
       {"PASSWORD", "db-passwd", "MY_API_KEY", "apiKey", "--api-key",
        "NCCL_TOKEN", "HF_TOKEN", "tokenId", "--token", "aws_secret_access_key",
        "Authorization", "private.key"}) {
    EXPECT_TRUE(is_secret_name(name)) << name;
  }
  for (const auto name : {"", "OMP_NUM_THREADS", "RANK", "seed", "key", "pass",
                          "max_tokens", "tokenizer", "NCCL_TOKENIZER"}) {
    EXPECT_FALSE(is_secret_name(name)) << name;
  }
}

}  // namespace
}  // namespace mishap::collector
