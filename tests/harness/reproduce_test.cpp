#include <gtest/gtest.h>
#include <mishap/trainer/harness/capture/reproduce.h>

namespace mishap {
namespace {

class ReproduceTest : public ::testing::Test {
 protected:
  ~ReproduceTest() override { set_reproduce_command("", FaultsGo::kBefore); }
};

TEST_F(ReproduceTest, FaultsGoBeforeTheCommandAsAVariable) {
  set_reproduce_command("train", FaultsGo::kBefore);
  EXPECT_EQ(reproduce_command("a/b=1*throw(int)"),
            "MISHAP_FAULTS='a/b=1*throw(int)' train");
  EXPECT_EQ(reproduce_command(""), "train");
}

TEST_F(ReproduceTest, FaultsGoBehindTheCommandAsAnOption) {
  set_reproduce_command("train", FaultsGo::kBehind);
  EXPECT_EQ(reproduce_command("a/b=1*throw(int)"),
            "train --faults 'a/b=1*throw(int)'");
  EXPECT_EQ(reproduce_command(""), "train");
}

TEST_F(ReproduceTest, ACommandThatHoldsItsFaultsIsLeftAlone) {
  set_reproduce_command("train --faults 'a/b=off;c/d=off'", FaultsGo::kInside);
  EXPECT_EQ(reproduce_command("a/b=1*throw(int)"),
            "train --faults 'a/b=off;c/d=off'");
}

}  // namespace
}  // namespace mishap
