#include <gtest/gtest.h>
#include <mishap/trainer/harness/capture/reproduce.h>

#include <array>
#include <string>

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

TEST_F(ReproduceTest, HandlersFindTheSameCommand) {
  const std::string faults = "user/it's=1*throw(int)";
  std::array<char, 8192> room;
  for (const FaultsGo go :
       {FaultsGo::kBefore, FaultsGo::kBehind, FaultsGo::kInside}) {
    for (const char* const command : {"train --epochs 3", ""}) {
      if (*command == '\0' && go != FaultsGo::kBefore) {
        continue;
      }
      set_reproduce_command(command, go);
      prepare_reproduce();
      EXPECT_EQ(prepared_reproduce(room, faults), reproduce_command(faults));
      EXPECT_EQ(prepared_reproduce(room, ""), reproduce_command(""));
    }
  }
}

TEST_F(ReproduceTest, HandlersFindNoneThatIsTooLong) {
  set_reproduce_command("train --epochs 3", FaultsGo::kBehind);
  prepare_reproduce();
  std::array<char, 20> room;
  EXPECT_EQ(prepared_reproduce(room, ""), "train --epochs 3");
  EXPECT_EQ(prepared_reproduce(room, "a/b=off"), "");
}

}  // namespace
}  // namespace mishap
