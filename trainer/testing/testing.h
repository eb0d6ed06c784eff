/// GoogleTest over the cleanup contract.
///
///     class MyTrainer : public mishap::testing::ContractSweep {
///      protected:
///       mishap::WorldFactory worlds() override {
///         return mishap::trainer_worlds(my_parts);
///       }
///     };
///     TEST_P(MyTrainer, CleansUp) { sweep(); }
///     INSTANTIATE_TEST_SUITE_P(
///         Faults, MyTrainer,
///         ::testing::ValuesIn(mishap::testing::sweep_matrix()),
///         mishap::testing::sweep_name);
#pragma once

#include <gtest/gtest.h>
#include <mishap/faultinject/sweep/driver.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/contract/contract_subject.h>
#include <mishap/trainer/testing/spied.h>
#include <mishap/trainer/testing/trainer_world.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace mishap::testing {

/// One test: an entry point and what is done at each of its hits.
struct SweepParam {
  std::string entry_point;
  std::string action;
};

/// Every entry point of a trainer × every action.
inline std::vector<SweepParam> sweep_matrix(
    const std::vector<std::string>& actions = {
        "throw(runtime)", "throw(c10)", "throw(int)", "interrupt(SIGINT)"}) {
  std::vector<SweepParam> matrix;
  for (const std::string& entry_point : trainer_entry_points()) {
    for (const std::string& action : actions) {
      matrix.push_back({entry_point, action});
    }
  }
  return matrix;
}

/// "fit_throw_runtime": a name that GoogleTest's filters can tell.
inline std::string sweep_name(
    const ::testing::TestParamInfo<SweepParam>& tested) {
  std::string name = tested.param.entry_point + '_';
  for (const char c : tested.param.action) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += c;
    } else if (name.back() != '_') {
      name += '_';
    }
  }
  while (name.back() == '_') {
    name.pop_back();
  }
  return name;
}

/// Fails every hit of the entry point, each in a fresh world, and expects that
/// the contract holds in every case.
class ContractSweep : public ::testing::TestWithParam<SweepParam> {
 protected:
  /// Makes the worlds that are swept.
  virtual WorldFactory worlds() = 0;

  void sweep() {
    const WorldFactory make_world = worlds();
    try {
      make_world()->call(GetParam().entry_point, quiet_options());
    } catch (const InputError& error) {
      GTEST_SKIP() << "a fresh world refuses it: " << error.what();
    }
    std::string folder =
        (std::filesystem::temp_directory_path() / "mishap-sweep-XXXXXX")
            .string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    HarnessOptions harness;
    harness.capture.records = folder;
    ContractSubject subject(make_world, {GetParam().entry_point}, harness);
    faultinject::sweep::Options options;
    options.actions = {GetParam().action};
    const faultinject::sweep::Summary summary = run_sweep(
        subject, options, [](const faultinject::sweep::Progress& progress) {
          if (progress.is_bad) {
            ADD_FAILURE() << progress.failing.spec << " in "
                          << progress.failing.entry_point << ": "
                          << to_string(progress.verdict.outcome) << ' '
                          << progress.verdict.note;
          }
        });
    std::filesystem::remove_all(folder);
    EXPECT_EQ(summary.tally.ran, summary.cases);
    EXPECT_GT(summary.cases, 0U);
    EXPECT_EQ(summary.exit_status(), 0);
    RecordProperty("cases", static_cast<int>(summary.cases));
  }
};

}  // namespace mishap::testing
