#include <gmock/gmock.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/sweep_options.h>

#include <string>
#include <vector>

namespace mishap::cli {
namespace {

using faultinject::sweep::Mode;
using faultinject::sweep::Options;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SweepOptions : public ::testing::Test {
 protected:
  Options read(std::vector<std::string> typed) {
    const Invocation invocation{"mishap", "sweep", std::move(typed)};
    SweepWords words;
    CommandLine line(invocation, "Sweeps.");
    add_sweep_options(line, words);
    EXPECT_TRUE(line.parse());
    return sweep_options(words, 1);
  }

  std::string refusal(std::vector<std::string> typed) {
    try {
      read(std::move(typed));
    } catch (const std::exception& error) {
      return error.what();
    }
    return "taken";
  }
};

TEST_F(SweepOptions, AreSingleFaultsUnlessPairsAreAskedFor) {
  EXPECT_FALSE(read({"--actions", "throw(int)"}).pairs);
  EXPECT_TRUE(read({"--actions", "throw(int)", "--pairs"}).pairs);
}

TEST_F(SweepOptions, ACaseIsNamedByItsId) {
  const Options options =
      read({"--case", "fit:hook/a/b:after:3:throw(int):persistent+hook/c/d:2"});
  EXPECT_THAT(options.entry_points, ElementsAre("fit"));
  EXPECT_THAT(options.actions, ElementsAre("throw(int)"));
  EXPECT_THAT(options.modes, ElementsAre(Mode::kPersistent));
  EXPECT_TRUE(options.pairs);
  EXPECT_EQ(options.only->point, "hook/a/b:after");
  EXPECT_EQ(options.only->index, 3U);
  EXPECT_EQ(options.only_second->point, "hook/c/d");
  EXPECT_EQ(options.only_second->index, 2U);
}

TEST_F(SweepOptions, ACaseTakesNoOtherChoice) {
  const std::string id = "fit:hook/a/b:1:throw(int):transient";
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--pairs"},
                                             {"--entry", "fit"},
                                             {"--points", "hook/**"},
                                             {"--actions", "throw(int)"},
                                             {"--mode", "both"}}) {
    std::vector<std::string> typed = {"--case", id};
    typed.insert(typed.end(), more.begin(), more.end());
    EXPECT_THAT(refusal(typed), HasSubstr("--case names")) << more.front();
  }
  EXPECT_EQ(refusal({"--case", id, "--recovers", "hook/**"}), "taken");
}

TEST_F(SweepOptions, RefuseWhatEndsTheProcessInACaseToo) {
  EXPECT_THAT(refusal({"--actions", "throw(int),abort"}),
              HasSubstr("'abort' ends or stops the process"));
  EXPECT_THAT(refusal({"--case", "fit:hook/a/b:1:exit(0):transient"}),
              HasSubstr("'exit(0)' ends or stops the process"));
}

}  // namespace
}  // namespace mishap::cli
