#include <gtest/gtest.h>
#include <mishap/collector/throw_hook.h>

namespace mishap::collector {
namespace {

TEST(ThrowHook, IsLiveAlthoughItLiesInAStaticArchive) {
  EXPECT_TRUE(hook_is_live());
}

TEST(ThrowHook, AnswersTheSameEveryTime) {
  EXPECT_EQ(hook_is_live(), hook_is_live());
}

}  // namespace
}  // namespace mishap::collector
