#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <mishap/collector/torch/tensor_memory.h>
#include <mishap/collector/torch/tensor_summary.h>

#include <cmath>
#include <limits>

namespace mishap::collector {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

at::Tensor floats(std::initializer_list<double> values) {
  return at::tensor(at::ArrayRef<double>(values)).to(at::kFloat);
}

TEST(TensorSummary, HasFormAndRange) {
  const TensorSummary summary = summarize(floats({1, -2, 3, 0}).view({2, 2}));
  EXPECT_EQ(summary.dims, 2);
  EXPECT_EQ(summary.shape[0], 2);
  EXPECT_EQ(summary.shape[1], 2);
  EXPECT_EQ(summary.dtype, "float32");
  EXPECT_STREQ(summary.device.data(), "cpu");
  EXPECT_EQ(summary.min, -2.0);
  EXPECT_EQ(summary.max, 3.0);
  EXPECT_EQ(summary.nan_count, 0);
  EXPECT_TRUE(summary.complete);
}

TEST(TensorSummary, CountsNansAndLeavesThemOutOfTheRange) {
  const TensorSummary summary = summarize(floats({kNan, 5, kNan}));
  EXPECT_EQ(summary.nan_count, 2);
  EXPECT_EQ(summary.min, 5.0);
  EXPECT_EQ(summary.max, 5.0);
}

TEST(TensorSummary, HasNoRangeWhenEveryValueIsNan) {
  const TensorSummary summary = summarize(floats({kNan, kNan}));
  EXPECT_EQ(summary.nan_count, 2);
  EXPECT_EQ(summary.min, std::nullopt);
  EXPECT_EQ(summary.max, std::nullopt);
}

TEST(TensorSummary, KeepsInfinities) {
  const TensorSummary summary = summarize(floats({1, HUGE_VAL}));
  EXPECT_EQ(summary.max, HUGE_VAL);
}

TEST(TensorSummary, ReadsEveryOrdinaryType) {
  for (const at::ScalarType type :
       {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf,
        at::kFloat, at::kDouble, at::kBFloat16, at::kBool}) {
    const TensorSummary summary = summarize(at::ones({3}, type));
    EXPECT_EQ(summary.min, 1.0) << type;
    EXPECT_EQ(summary.max, 1.0) << type;
    EXPECT_FALSE(summary.dtype.empty());
  }
}

TEST(TensorSummary, ReadsAViewByItsStrides) {
  const at::Tensor whole = at::arange(20, at::kFloat).view({4, 5});
  const TensorSummary column = summarize(whole.select(1, 2));
  EXPECT_EQ(column.min, 2.0);
  EXPECT_EQ(column.max, 17.0);
  const TensorSummary transposed = summarize(whole.t().slice(0, 1, 3));
  EXPECT_EQ(transposed.min, 1.0);
  EXPECT_EQ(transposed.max, 17.0);
  EXPECT_TRUE(transposed.complete);
}

TEST(TensorSummary, ReadsAnExpandedTensor) {
  const TensorSummary summary = summarize(floats({4}).expand({3, 1000}));
  EXPECT_EQ(summary.min, 4.0);
  EXPECT_EQ(summary.shape[1], 1000);
}

TEST(TensorSummary, SamplesALargeTensorAndSaysSo) {
  const std::int64_t size = TensorSummary::kMaxValues * 8;
  const TensorSummary summary = summarize(at::arange(size, at::kDouble));
  EXPECT_FALSE(summary.complete);
  EXPECT_EQ(summary.min, 0.0);
  EXPECT_GT(*summary.max, 0.9 * static_cast<double>(size));
}

TEST(TensorSummary, OfAnEmptyTensorHasNoRange) {
  const TensorSummary summary = summarize(at::empty({0, 3}));
  EXPECT_EQ(summary.dims, 2);
  EXPECT_EQ(summary.min, std::nullopt);
  EXPECT_EQ(summary.nan_count, 0);
}

TEST(TensorSummary, OfAnUndefinedTensorIsBlank) {
  const TensorSummary summary = summarize(at::Tensor());
  EXPECT_EQ(summary.dims, 0);
  EXPECT_TRUE(summary.dtype.empty());
  EXPECT_EQ(summary.nan_count, std::nullopt);
}

TEST(TensorSummary, OfTensorsWithoutPlainValuesHasOnlyTheirForm) {
  const TensorSummary sparse = summarize(floats({0, 1, 0}).to_sparse());
  EXPECT_EQ(sparse.shape[0], 3);
  EXPECT_EQ(sparse.min, std::nullopt);
  const TensorSummary meta =
      summarize(at::empty({2, 2}, at::TensorOptions(at::kMeta)));
  EXPECT_STREQ(meta.device.data(), "meta");
  EXPECT_EQ(meta.min, std::nullopt);
  const TensorSummary complex = summarize(at::ones({2}, at::kComplexFloat));
  EXPECT_EQ(complex.shape[0], 2);
  EXPECT_EQ(complex.nan_count, std::nullopt);
}

TEST(TensorSummary, KeepsTheFirstOfManyDimensions) {
  const TensorSummary summary =
      summarize(at::ones({1, 2, 1, 1, 1, 1, 1, 1, 1, 3}));
  EXPECT_EQ(summary.dims, 10);
  EXPECT_EQ(summary.shape[1], 2);
  EXPECT_EQ(summary.max, 1.0);
}

TEST(TensorSummary, AllocatesNoTensorMemory) {
  ASSERT_TRUE(install_counting_allocator());
  const at::Tensor tensor = at::ones({100, 100}).t();
  const std::int64_t before = tensor_memory().allocations;
  summarize(tensor);
  EXPECT_EQ(tensor_memory().allocations, before);
}

}  // namespace
}  // namespace mishap::collector
