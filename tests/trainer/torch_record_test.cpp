#include <c10/util/Exception.h>
#include <mishap/trainer/harness/torch/torch_state.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <stdexcept>

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

}  // namespace
}  // namespace mishap
