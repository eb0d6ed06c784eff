#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <mishap/collector/throw_site.h>
#include <mishap/collector/torch/tensor_memory.h>
#include <mishap/collector/torch/throw_sample.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "throw_helpers.h"

namespace mishap::collector {
namespace {

class CountingAllocatorTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(install_counting_allocator()); }
};

TEST_F(CountingAllocatorTest, CountsWhatATensorHoldsUntilItIsFreed) {
  const TensorMemory before = tensor_memory();
  {
    const at::Tensor tensor = at::empty({1024}, at::kFloat);
    const TensorMemory held = tensor_memory();
    EXPECT_GE(held.live_bytes, before.live_bytes + 4096);
    EXPECT_EQ(held.live_blocks, before.live_blocks + 1);
    EXPECT_EQ(held.allocations, before.allocations + 1);
  }
  EXPECT_EQ(tensor_memory().live_bytes, before.live_bytes);
  EXPECT_EQ(tensor_memory().live_blocks, before.live_blocks);
}

TEST_F(CountingAllocatorTest, LetsMkldnnAllocateByAddressAlone) {
  const auto convolve = [] {
    const at::Tensor image = at::ones({1, 3, 16, 16});
    const at::Tensor kernel = at::ones({8, 3, 3, 3});
    return at::conv2d(image, kernel).sum().item<double>();
  };
  EXPECT_EQ(convolve(), 8.0 * 14 * 14 * 27);
  const std::int64_t after_first = tensor_memory().live_bytes;
  EXPECT_EQ(convolve(), 8.0 * 14 * 14 * 27);
  EXPECT_EQ(tensor_memory().live_bytes, after_first);
}

TEST_F(CountingAllocatorTest, ServesLibTorchsRawInterface) {
  const TensorMemory before = tensor_memory();
  c10::Allocator* allocator = c10::GetCPUAllocator();
  void* block = allocator->raw_allocate(100);
  EXPECT_EQ(tensor_memory().live_blocks, before.live_blocks + 1);
  allocator->raw_deallocate(block);
  EXPECT_EQ(tensor_memory().live_bytes, before.live_bytes);
}

TEST_F(CountingAllocatorTest, CountsNoEmptyTensor) {
  const TensorMemory before = tensor_memory();
  const at::Tensor tensor = at::empty({0});
  EXPECT_EQ(tensor_memory().live_blocks, before.live_blocks);
  EXPECT_TRUE(tensor.defined());
}

TEST_F(CountingAllocatorTest, RemembersThePeakUntilItIsReset) {
  reset_peak_tensor_memory();
  const std::int64_t start = tensor_memory().peak_bytes;
  at::empty({1 << 20}, at::kFloat);
  EXPECT_GE(tensor_memory().peak_bytes, start + (4 << 20));
  reset_peak_tensor_memory();
  EXPECT_EQ(tensor_memory().peak_bytes, tensor_memory().live_bytes);
}

TEST_F(CountingAllocatorTest, IsTheSameAfterAnAllocationThatFailed) {
  const TensorMemory before = tensor_memory();
  EXPECT_THROW(at::empty({std::int64_t{1} << 60}, at::kByte), c10::Error);
  EXPECT_EQ(tensor_memory().live_bytes, before.live_bytes);
  EXPECT_EQ(tensor_memory().live_blocks, before.live_blocks);
}

TEST_F(CountingAllocatorTest, CountsOnAllThreads) {
  const TensorMemory before = tensor_memory();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 200; ++n) {
        at::empty({n + 1}, at::kFloat);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(tensor_memory().live_bytes, before.live_bytes);
  EXPECT_EQ(tensor_memory().allocations, before.allocations + 800);
}

TEST_F(CountingAllocatorTest, IsInstalledOnlyOnce) {
  const c10::Allocator* installed = c10::GetCPUAllocator();
  EXPECT_TRUE(install_counting_allocator());
  EXPECT_EQ(c10::GetCPUAllocator(), installed);
}

TEST_F(CountingAllocatorTest, IsSampledAtTheThrowBeforeUnwindingFreesTensors) {
  install_torch_throw_sampler();
  const ThrowCaptureScope scope;
  const std::int64_t before = tensor_memory().live_bytes;
  const std::exception_ptr error = sample::caught([] {
    const c10::NoGradGuard no_grad;
    const at::Tensor held = at::empty({1024}, at::kFloat);
    throw std::runtime_error("with a tensor alive");
  });
  set_throw_sampler(nullptr);
  const auto site = find_throw_site(error);
  ASSERT_TRUE(site.has_value());
  const TorchThrowSample sample = torch_throw_sample(*site);
  EXPECT_TRUE(sample.taken);
  EXPECT_GE(sample.live_bytes, before + 4096);
  EXPECT_FALSE(sample.grad_enabled);
  EXPECT_TRUE(c10::GradMode::is_enabled());
  EXPECT_EQ(tensor_memory().live_bytes, before);
}

TEST(TorchThrowSample, KnowsTheAnomalyModeOfABlockThatUnwound) {
  install_torch_throw_sampler();
  const ThrowCaptureScope scope;
  const std::exception_ptr error = sample::caught([] {
    const torch::autograd::DetectAnomalyGuard anomaly;
    throw std::runtime_error("with anomaly mode on");
  });
  const std::exception_ptr other = sample::caught([] { throw 1; });
  set_throw_sampler(nullptr);
  EXPECT_FALSE(torch::autograd::AnomalyMode::is_enabled());
  const auto site = find_throw_site(error);
  const auto other_site = find_throw_site(other);
  ASSERT_TRUE(site && other_site);
  EXPECT_TRUE(torch_throw_sample(*site).anomaly);
  EXPECT_FALSE(torch_throw_sample(*other_site).anomaly);
}

TEST(TorchThrowSample, IsNotTakenWithoutTheSampler) {
  const ThrowSampler previous = set_throw_sampler(nullptr);
  const ThrowCaptureScope scope;
  const auto site = find_throw_site(sample::caught([] { throw 1; }));
  set_throw_sampler(previous);
  ASSERT_TRUE(site.has_value());
  EXPECT_FALSE(torch_throw_sample(*site).taken);
}

}  // namespace
}  // namespace mishap::collector
