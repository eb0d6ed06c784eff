#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <mishap/collector/torch/devices.h>
#include <mishap/collector/torch/tensor_memory.h>
#include <mishap/collector/torch/warning_collector.h>

#include <array>
#include <cstdlib>
#include <string>
#include <thread>

namespace mishap::collector {
namespace {

struct CountingHandler : c10::WarningHandler {
  void process(const c10::SourceLocation&, const std::string&,
               const bool) override {
    ++count;
  }
  int count = 0;
};

class WarningCollectorTest : public testing::Test {
 protected:
  CountingHandler outer_;
  c10::Warning::WarningHandlerGuard guard_{&outer_};
  std::array<CollectedWarning, WarningCollector::kCapacity> warnings_{};
};

TEST_F(WarningCollectorTest, KeepsAWarningWithItsPlaceAndHandsItOn) {
  const WarningCollector collector;
  const auto line = static_cast<std::uint32_t>(__LINE__ + 1);
  TORCH_WARN("lossy ", 3);
  ASSERT_EQ(collector.copy(warnings_), 1U);
  EXPECT_STREQ(warnings_[0].message.data(), "lossy 3");
  EXPECT_EQ(warnings_[0].line, line);
  EXPECT_TRUE(
      std::string(warnings_[0].file.data()).ends_with("torch_state_test.cpp"));
  EXPECT_EQ(warnings_[0].count, 1);
  EXPECT_EQ(outer_.count, 1);
}

TEST_F(WarningCollectorTest, CountsARepeatedMessage) {
  const WarningCollector collector;
  for (int i = 0; i < 5; ++i) {
    TORCH_WARN("again");
  }
  ASSERT_EQ(collector.copy(warnings_), 1U);
  EXPECT_EQ(warnings_[0].count, 5);
}

TEST_F(WarningCollectorTest, KeepsTheLastOnesOldestFirst) {
  const WarningCollector collector;
  for (int i = 0; i < 20; ++i) {
    TORCH_WARN("number ", i);
  }
  ASSERT_EQ(collector.copy(warnings_), WarningCollector::kCapacity);
  EXPECT_STREQ(warnings_.front().message.data(), "number 12");
  EXPECT_STREQ(warnings_.back().message.data(), "number 19");
}

TEST_F(WarningCollectorTest, CutsALongMessage) {
  const WarningCollector collector;
  TORCH_WARN(std::string(5000, 'w'));
  TORCH_WARN(std::string(5000, 'w'));
  ASSERT_EQ(collector.copy(warnings_), 1U);
  EXPECT_EQ(std::string(warnings_[0].message.data()),
            std::string(warnings_[0].message.size() - 1, 'w'));
  EXPECT_EQ(warnings_[0].count, 2);
}

TEST_F(WarningCollectorTest, PutsThePreviousHandlerBack) {
  { const WarningCollector collector; }
  EXPECT_EQ(c10::Warning::get_warning_handler(), &outer_);
}

TEST_F(WarningCollectorTest, NestsLikeAStack) {
  const WarningCollector outer;
  {
    const WarningCollector inner;
    TORCH_WARN("inside");
  }
  TORCH_WARN("outside");
  EXPECT_EQ(outer.copy(warnings_), 2U);
  EXPECT_EQ(outer_.count, 2);
}

TEST(Devices, BeginWithTheCpuAndItsFreeMemory) {
  std::array<DeviceState, 16> devices;
  ASSERT_GE(list_devices(devices), 1U);
  EXPECT_STREQ(devices[0].name.data(), "cpu");
  ASSERT_TRUE(devices[0].free.has_value());
  EXPECT_GT(*devices[0].free, 1 << 20);
}

TEST(Devices, NameNoCudaDeviceWhereNoneIsVisible) {
  ASSERT_EQ(setenv("CUDA_VISIBLE_DEVICES", "", 1), 0);
  std::array<DeviceState, 16> devices;
  EXPECT_EQ(list_devices(devices), 1U);
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST(Devices, FitIntoTheCallersStorage) {
  EXPECT_EQ(list_devices({}), 0U);
  std::array<DeviceState, 1> one;
  EXPECT_EQ(list_devices(one), 1U);
}

}  // namespace
}  // namespace mishap::collector
