#include <gmock/gmock.h>
#include <mishap/fault_point.h>
#include <mishap/faultinject/plan_error.h>
#include <mishap/trainer/harness/cli/points_report.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mishap::cli {

inline void a_loader_that_tries_again() {
  MISHAP_RECOVERABLE_FAULT_POINT("points_report/load");
}

namespace {

using faultinject::intern;
using faultinject::PointId;

faultinject::sweep::Options two_actions() {
  faultinject::sweep::Options options;
  options.actions = {"throw(runtime)", "throw(int)"};
  return options;
}

PointsOfEntry counted_fit() {
  const PointId setup = intern("hook/setup/module");
  const PointId load = intern("user/points_report/load");
  return count_points("fit", {setup, load, load}, two_actions());
}

TEST(PointsReport, CountsHitsAndCases) {
  const PointsOfEntry fit = counted_fit();
  EXPECT_EQ(fit.hits, 3U);
  EXPECT_EQ(fit.cases, 6U);
  ASSERT_EQ(fit.points.size(), 2U);
  EXPECT_EQ(fit.points[1].hits, 2U);
}

TEST(PointsReport, TellsAPersonTheNumbersAndWhatMayRecover) {
  EXPECT_EQ(points_text(counted_fit(), two_actions()),
            "fit: 3 hits of 2 points × 2 actions × 1 mode = 6 cases\n"
            "       1  hook/setup/module\n"
            "       2  user/points_report/load  (may recover)\n");
}

constexpr char kJson[] = R"json({
  "actions": ["throw(runtime)", "throw(int)"], "modes": ["transient"],
  "entry_points": [{"name": "fit", "hits": 3, "cases": 6, "points": [
    {"name": "hook/setup/module", "hits": 1, "may_recover": false},
    {"name": "user/points_report/load", "hits": 2, "may_recover": true}]}]
})json";

TEST(PointsReport, TellsAMachineTheSame) {
  const std::vector<PointsOfEntry> entries = {counted_fit()};
  EXPECT_EQ(nlohmann::json::parse(points_json(entries, two_actions())),
            nlohmann::json::parse(kJson));
}

TEST(PointsReport, RefusesAnActionThatAPointCannotTake) {
  faultinject::sweep::Options options;
  options.actions = {"errno(EIO)"};
  EXPECT_THROW(count_points("fit", {intern("hook/setup/module")}, options),
               faultinject::PlanError);
}

}  // namespace
}  // namespace mishap::cli
