#include <gmock/gmock.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/command_line.h>

#include <string>
#include <vector>

namespace mishap::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CommandLineTest : public ::testing::Test {
 protected:
  bool parse(std::vector<std::string> words) {
    invocation_ = {"mishap", "show", std::move(words)};
    CommandLine line(invocation_, "Shows.");
    line.positional("FILE", file_, "a file");
    line.option("--id", id_, "ID", "an id");
    line.option("--entry", entries_, "NAME", "an entry point");
    line.flag("--all", all_, "all");
    line.not_yet("--jobs", "start several");
    return line.parse();
  }

  std::string refusal(std::vector<std::string> words) {
    try {
      parse(std::move(words));
    } catch (const InputError& error) {
      return error.what();
    }
    return "taken";
  }

  Invocation invocation_;
  std::string file_;
  std::string id_ = "last";
  std::vector<std::string> entries_;
  bool all_ = false;
};

TEST_F(CommandLineTest, SetsWhatWasGivenAndKeepsTheRest) {
  EXPECT_TRUE(parse({"f", "--entry", "fit", "--all", "--entry=test"}));
  EXPECT_EQ(file_, "f");
  EXPECT_EQ(id_, "last");
  EXPECT_TRUE(all_);
  EXPECT_THAT(entries_, ElementsAre("fit", "test"));
}

TEST_F(CommandLineTest, ARepeatableOptionTakesOneWordAtATime) {
  EXPECT_TRUE(parse({"--entry", "fit", "f"}));
  EXPECT_EQ(file_, "f");
  EXPECT_THAT(entries_, ElementsAre("fit"));
}

TEST_F(CommandLineTest, TheLastOfSeveralValuesCounts) {
  EXPECT_TRUE(parse({"f", "--id", "1", "--id", "2"}));
  EXPECT_EQ(id_, "2");
}

TEST_F(CommandLineTest, HelpIsPrintedAndEndsTheCommand) {
  ::testing::internal::CaptureStdout();
  EXPECT_FALSE(parse({"--help"}));
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              AllOf(HasSubstr("mishap show"), HasSubstr("--entry NAME")));
}

TEST_F(CommandLineTest, EveryMistakeIsOneSentenceThatNamesTheWord) {
  EXPECT_THAT(refusal({}), HasSubstr("'mishap show' needs FILE"));
  EXPECT_THAT(refusal({"f", "--entri", "x"}),
              HasSubstr("'--entri'; did you mean '--entry'?"));
  EXPECT_THAT(refusal({"f", "--zzzzzz"}), HasSubstr("--help' lists"));
  EXPECT_THAT(refusal({"f", "g"}), HasSubstr("'g' is one word too many"));
  EXPECT_THAT(refusal({"f", "--id"}), StartsWith("--id needs a value"));
}

TEST_F(CommandLineTest, AnOptionThatIsPlannedSaysWhatThereIsInstead) {
  EXPECT_THAT(refusal({"f", "--jobs", "4"}),
              AllOf(HasSubstr("--jobs yet"), HasSubstr("start several")));
  EXPECT_THAT(refusal({"f", "--jobs=4"}), HasSubstr("--jobs yet"));
}

}  // namespace
}  // namespace mishap::cli
