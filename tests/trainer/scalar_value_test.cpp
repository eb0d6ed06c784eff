#include <gtest/gtest.h>
#include <mishap/trainer/engine/detail/scalar_value.h>

#include <cmath>
#include <limits>

namespace mishap::detail {
namespace {

TEST(ScalarValue, IsThatOfItem) {
  const torch::Tensor row = torch::arange(4, torch::kFloat) + 0.5;
  for (const torch::Tensor& tensor :
       {row[2], row[2].to(torch::kDouble), row[2].to(torch::kHalf),
        row[2].to(torch::kLong), row.slice(0, 3, 4), row[1].view({1, 1, 1}),
        row[1].clone().set_requires_grad(true) * 2, torch::tensor(true),
        torch::_neg_view(row[3]), torch::_efficientzerotensor({}),
        torch::imag(torch::conj(torch::complex(row[1], row[2])))}) {
    EXPECT_EQ(scalar_value(tensor), tensor.item<double>()) << tensor;
  }
}

TEST(ScalarValue, IsNotMadeFinite) {
  EXPECT_TRUE(std::isnan(scalar_value(torch::tensor(NAN))));
  EXPECT_EQ(scalar_value(torch::tensor(-INFINITY)),
            -std::numeric_limits<double>::infinity());
}

TEST(ScalarValue, RefusesWhatHasNoSingleValue) {
  EXPECT_THROW(scalar_value(torch::zeros(2)), c10::Error);
  EXPECT_THROW(scalar_value(torch::zeros(0)), c10::Error);
}

}  // namespace
}  // namespace mishap::detail
