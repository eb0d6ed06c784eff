#include <gmock/gmock.h>
#include <mishap/fault_point.h>
#include <mishap/faultinject/catalogue.h>

#include "support.h"

namespace mishap::faultinject {
inline void an_inline_function_that_nobody_calls() {
  MISHAP_FAULT_POINT("catalogue/inline");
}

template <typename T>
void a_template_that_nobody_calls(T) {
  MISHAP_FAULT_POINT("catalogue/template");
}
template void a_template_that_nobody_calls<int>(int);

inline void tries_again() { MISHAP_RECOVERABLE_FAULT_POINT("catalogue/retry"); }
inline void tries_again_in_one_of_two_places() {
  MISHAP_RECOVERABLE_FAULT_POINT("catalogue/half_retry");
  MISHAP_FAULT_POINT("catalogue/half_retry");
}

namespace {

using ::testing::IsSupersetOf;
using ::testing::Not;

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const PointInfo& info : catalogue()) all.emplace_back(info.name);
  return all;
}

TEST(CatalogueTest, KnowsPointsThatWereNeverReached) {
  EXPECT_THAT(names(), IsSupersetOf({"user/catalogue/inline",
                                     "user/catalogue/template"}));
}

TEST(CatalogueTest, ListingHitsNothing) {
  const auto scenario = arm_text("user/catalogue/inline=1*throw(int)");
  names();
  EXPECT_EQ(scenario.fired(), 0u);
}

TEST(CatalogueTest, InterningDeclaresNothing) {
  intern("user/catalogue/only_interned");
  EXPECT_THAT(names(),
              Not(::testing::Contains("user/catalogue/only_interned")));
  EXPECT_EQ(find_declared("user/catalogue/only_interned"), std::nullopt);
}

TEST(CatalogueTest, DeclaringAgainNarrows) {
  declare_point("io/catalogue/a", Capability::kControl | Capability::kIo);
  declare_point("io/catalogue/a", Capability::kControl);
  EXPECT_EQ(find_declared("io/catalogue/a")->capabilities,
            Capability::kControl);
  EXPECT_EQ(message_of([] { arm_text("io/**=errno(EIO)").disarm(); }),
            "fault plan, item 1, column 7: 'errno' can't be done at "
            "'io/catalogue/a'; choose another action or another point");
}

TEST(CatalogueTest, SaysAtWhichPointsARunMayRecover) {
  EXPECT_TRUE(is_declared_recoverable(intern("user/catalogue/retry")));
  EXPECT_FALSE(is_declared_recoverable(intern("user/catalogue/inline")));
  EXPECT_FALSE(is_declared_recoverable(intern("hook/catalogue/undeclared")));
}

TEST(CatalogueTest, APointIsRecoverableOnlyIfAllItsPlacesAre) {
  EXPECT_FALSE(is_declared_recoverable(intern("user/catalogue/half_retry")));
}

TEST(CatalogueTest, ARecoverablePointIsAPointLikeAnyOther) {
  const auto scenario = arm_text("user/catalogue/retry=1*throw(runtime)");
  EXPECT_THROW(tries_again(), std::runtime_error);
  EXPECT_NO_THROW(tries_again());
}

}  // namespace
}  // namespace mishap::faultinject
