#include <gtest/gtest.h>
#include <mishap/collector/exception_chain.h>
#include <mishap/collector/throw_site.h>

#include <array>
#include <memory>
#include <stdexcept>

#include "throw_helpers.h"

namespace mishap::collector {
namespace {

// boostorg/stacktrace#182, sentry-cocoa#551: this program links no hook, and
// nothing may look as if it did.
TEST(WithoutThrowHook, NoSiteIsFoundAndAllElseIs) {
  const ThrowCaptureScope scope;
  const std::exception_ptr error =
      sample::caught([] { throw std::runtime_error("not seen"); });
  EXPECT_FALSE(find_throw_site(error));
  std::array<LiveThrow, 4> alive;
  EXPECT_EQ(live_throws(alive), 0U);
  const auto chain = std::make_unique<ExceptionChain>();
  chain->describe(error);
  ASSERT_EQ(chain->entries().size(), 1U);
  EXPECT_EQ(chain->entries()[0].type, "std::runtime_error");
  EXPECT_EQ(chain->entries()[0].message, "not seen");
  EXPECT_FALSE(chain->entries()[0].site);
}

}  // namespace
}  // namespace mishap::collector
