#include <gmock/gmock.h>
#include <mishap/faultinject/sweep/driver.h>
#include <mishap/faultinject/sweep/output.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "../support.h"
#include "fake_subject.h"

namespace mishap::faultinject::sweep {
namespace {

using nlohmann::json;
using ::testing::SizeIs;

std::filesystem::path out_folder(const char* name) {
  const auto path = std::filesystem::path(::testing::TempDir()) / name;
  std::filesystem::remove_all(path);
  return path;
}

std::vector<json> lines(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<json> all;
  for (std::string line; std::getline(file, line);) {
    all.push_back(json::parse(line));
  }
  return all;
}

constexpr char kSwallowed[] = R"line({
    "id": "fit:hook/b/module:1:throw(runtime):transient",
    "entry_point": "fit", "point": "hook/b/module", "hit": 1,
    "action": "throw(runtime)", "mode": "transient",
    "second_point": null, "second_hit": null,
    "spec": "hook/b/module=1*throw(runtime)", "outcome": "swallowed",
    "violated": [], "known": false,
    "record_id": "fit:hook/b/module:1:throw(runtime):transient",
    "micros": 12, "note": ""
})line";

TEST(OutputTest, EveryCaseIsALine) {
  FakeSubject subject;
  subject.swallowing = {"hook/b/module"};
  subject.judged = [](const Case& failing, Verdict& verdict) {
    verdict.micros = 12;
    verdict.note = failing.hit == 2 ? "no UTF-8: \xff" : "";
  };
  Options options;
  options.out = out_folder("output_cases") / "deep";
  run_sweep(subject, options);
  const auto cases = lines(options.out / "cases.jsonl");
  ASSERT_THAT(cases, SizeIs(5));
  EXPECT_EQ(cases[1], json::parse(kSwallowed));
  EXPECT_EQ(cases[4].at("note"), "no UTF-8: \xef\xbf\xbd");
}

TEST(OutputTest, TheSummaryHoldsTheCounts) {
  FakeSubject subject;
  subject.swallowing = {"hook/b/module"};
  Options options;
  options.out = out_folder("output_summary");
  options.seed = 11;
  run_sweep(subject, options);
  std::ifstream file(options.out / "summary.json");
  const json summary = json::parse(file);
  for (const auto& [key, value] :
       std::map<std::string, int>{{"points", 3},
                                  {"hits", 5},
                                  {"cases", 5},
                                  {"ran", 5},
                                  {"fired", 5},
                                  {"held", 4},
                                  {"recovered", 0},
                                  {"violated", 0},
                                  {"swallowed", 1},
                                  {"not_fired", 0},
                                  {"nondeterministic", 0},
                                  {"crashed", 0},
                                  {"hung", 0},
                                  {"known", 0},
                                  {"records", 5},
                                  {"seed", 11}}) {
    EXPECT_EQ(summary.at(key), value) << key;
  }
  EXPECT_TRUE(summary.at("exhaustive").get<bool>());
  EXPECT_FALSE(summary.at("pairs").get<bool>());
  EXPECT_GT(summary.at("cases_per_second").get<double>(), 0);
  EXPECT_EQ(summary.at("entry_points").at(1).at("name"), "test");
  EXPECT_EQ(summary.at("entry_points").at(1).at("cases"), 2);
  EXPECT_EQ(summary.at("entry_points").at(0).at("swallowed"), 1);
  EXPECT_EQ(summary.at("clauses").at(0),
            json::parse(R"({"name":"C1","checked":5,"violated":0})"));
}

TEST(OutputTest, APairNamesBothItsHits) {
  FakeSubject subject;
  subject.cleanup = {"hook/c/module"};
  Options options;
  options.entry_points = {"fit"};
  options.points = {NamePattern("hook/b/module")};
  options.pairs = true;
  options.out = out_folder("output_pairs");
  run_sweep(subject, options);
  const auto cases = lines(options.out / "cases.jsonl");
  ASSERT_THAT(cases, SizeIs(1));
  EXPECT_EQ(cases[0].at("point"), "hook/b/module");
  EXPECT_EQ(cases[0].at("hit"), 1);
  EXPECT_EQ(cases[0].at("second_point"), "hook/c/module");
  EXPECT_EQ(cases[0].at("second_hit"), 1);
  std::ifstream file(options.out / "summary.json");
  EXPECT_TRUE(json::parse(file).at("pairs").get<bool>());
}

TEST(OutputTest, AFolderThatCannotBeMadeIsRefusedBeforeAnyCaseRuns) {
  const auto file = out_folder("output_file");
  std::ofstream(file) << "in the way";
  FakeSubject subject;
  Options options;
  options.out = file / "sweep";
  EXPECT_THAT(message_of([&] { run_sweep(subject, options); }),
              ::testing::AllOf(::testing::HasSubstr("can't be made"),
                               ::testing::HasSubstr("choose another one")));
  EXPECT_THAT(subject.cases, SizeIs(0));
}

class Instant : public Subject {
 public:
  std::vector<std::string> entry_points() override { return {"fit"}; }
  std::vector<PointId> baseline(std::string_view) override {
    return std::vector<PointId>(5000, intern("hook/instant/module"));
  }
  Scouted scout(const Case&) override { return {}; }
  Verdict run(const Case& failing) override {
    Verdict verdict;
    verdict.outcome = failing.hit > 5000 ? Outcome::kNotFired : Outcome::kHeld;
    verdict.checked = {"C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9"};
    return verdict;
  }
};

TEST(OutputTest, ThousandsOfCasesAreWrittenWhole) {
  Instant subject;
  Options options;
  options.out = out_folder("output_many");
  const Summary summary = run_sweep(subject, options);
  EXPECT_EQ(summary.tally[Outcome::kHeld], 5000u);
  EXPECT_THAT(lines(options.out / "cases.jsonl"), SizeIs(5000));
  RecordProperty("micros_per_case",
                 std::to_string(1e6 / summary.cases_per_second()));
}

}  // namespace
}  // namespace mishap::faultinject::sweep
