#include <gmock/gmock.h>
#include <mishap/testing.h>
#include <torch/torch.h>

#include "twin.h"

namespace mishap::testing {
namespace {

using ::testing::_;
using ::testing::AtMost;
using ::testing::Invoke;
using ::testing::NiceMock;

// An ordinary callback whose calls GoogleMock judges: told before it is torn
// down, each at most once in the call that fails.
class MockCallback : public SpyCallback {
 public:
  explicit MockCallback(Journal& journal) : SpyCallback(journal, "Mock") {
    ON_CALL(*this, setup(_)).WillByDefault(Invoke([this](Session& session) {
      SpyCallback::setup(session);
    }));
    ON_CALL(*this, teardown(_)).WillByDefault(Invoke([this](Session& session) {
      SpyCallback::teardown(session);
    }));
    ON_CALL(*this, on_exception(_))
        .WillByDefault(Invoke([this](const ErrorEvent& event) {
          SpyCallback::on_exception(event);
        }));
    // The failing call tells it once; the calls after it, which show that the
    // trainer can be used again, never do.
    EXPECT_CALL(*this, on_exception(_)).Times(AtMost(1));
  }

  MOCK_METHOD(void, setup, (Session&), (override));
  MOCK_METHOD(void, teardown, (Session&), (override));
  MOCK_METHOD(void, on_exception, (const ErrorEvent&), (override));
};

class Digits : public ContractSweep {
 protected:
  WorldFactory worlds() override {
    return trainer_worlds(
        tiny_parts, {[](Journal& journal) -> std::shared_ptr<SpyCallback> {
          return std::make_shared<NiceMock<MockCallback>>(journal);
        }});
  }
};

TEST_P(Digits, HoldsTheContractAtEveryHit) { sweep(); }

INSTANTIATE_TEST_SUITE_P(Faults, Digits, ::testing::ValuesIn(sweep_matrix()),
                         sweep_name);

}  // namespace
}  // namespace mishap::testing
