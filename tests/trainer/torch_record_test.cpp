#include <c10/util/Exception.h>
#include <mishap/trainer/harness/torch/torch_state.h>
#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/utils.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "../harness/guard_cases.h"

namespace mishap {
namespace {

using nlohmann::json;

class CasesOfTorch : public GuardCases {
 protected:
  CasesOfTorch() { watch_torch_state(); }
};

// A8: the mode is off again when the record is frozen.
TEST_F(CasesOfTorch, AnomalyModeOfABlockThatFailedIsInTheRecord) {
  json record = record_of<std::runtime_error>([](mishap::Run&) {
    const torch::autograd::DetectAnomalyGuard anomaly;
    throw std::runtime_error("in the block");
  });
  EXPECT_EQ(record["modes"]["anomaly"], true);
}

TEST_F(CasesOfTorch, AnomalyModeIsOffInTheRecordOfARunWithoutIt) {
  json record = record_of<std::runtime_error>(
      [](mishap::Run&) { throw std::runtime_error("outside of any block"); });
  EXPECT_EQ(record["modes"]["anomaly"], false);
}

TEST_F(CasesOfTorch, WarningThatCameSeveralTimesIsCounted) {
  json record = record_of<std::runtime_error>([](mishap::Run&) {
    for (int i = 0; i < 5; ++i) {
      TORCH_WARN("the same again");
    }
    TORCH_WARN("another one");
    throw std::runtime_error("behind the warnings");
  });
  ASSERT_EQ(record["warnings"].size(), 2U);
  EXPECT_EQ(record["warnings"][0]["message"], "the same again");
  EXPECT_EQ(record["warnings"][0]["count"], 5);
  EXPECT_EQ(record["warnings"][1]["count"], 1);
}

TEST_F(CasesOfTorch, RunThatHangsHasItsWarningsAndTheModesOfTheProcess) {
  options_.hang.after = std::chrono::milliseconds(100);
  options_.hang.then = OnHang::kWarn;
  guard(
      "fit",
      [](mishap::Run&) {
        TORCH_WARN("before it hung");
        const torch::NoGradGuard of_this_thread;
        std::this_thread::sleep_for(std::chrono::seconds(1));
      },
      options_);
  ASSERT_EQ(records().size(), 1U);
  const json record = records()[0];
  EXPECT_EQ(record["kind"], "hang");
  ASSERT_EQ(record["warnings"].size(), 1U);
  EXPECT_EQ(record["warnings"][0]["message"], "before it hung");
  EXPECT_EQ(record["modes"]["anomaly"], false);
  EXPECT_EQ(record["modes"]["default_dtype"], "float32");
  EXPECT_TRUE(record["modes"]["grad_enabled"].is_null());
}

}  // namespace
}  // namespace mishap
