#include <gmock/gmock.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/program.h>

#include <csignal>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace mishap::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgramTest : public ::testing::Test {
 protected:
  int run(std::vector<std::string> words) {
    Program program("tool", "Does things.", "1.2");
    program.add({"good", "works", [this](const Invocation& invocation) {
                   seen_ = invocation.words;
                   return 0;
                 }});
    program.add({"throw", "fails", [this](const Invocation&) -> int {
                   throw_();
                   return 0;
                 }});
    program.add_hidden(not_yet("later", "use good"));
    words.insert(words.begin(), "/usr/bin/tool");
    std::vector<char*> arguments;
    for (std::string& word : words) {
      arguments.push_back(word.data());
    }
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int status =
        program.main(static_cast<int>(arguments.size()), arguments.data());
    output_ = ::testing::internal::GetCapturedStdout();
    errors_ = ::testing::internal::GetCapturedStderr();
    return status;
  }

  int status_of(std::function<void()> thrower) {
    throw_ = std::move(thrower);
    return run({"throw"});
  }

  std::function<void()> throw_;
  std::vector<std::string> seen_;
  std::string output_;
  std::string errors_;
};

TEST_F(ProgramTest, GivesTheCommandTheWordsBehindIt) {
  EXPECT_EQ(run({"good", "a", "--b"}), 0);
  EXPECT_THAT(seen_, ::testing::ElementsAre("a", "--b"));
}

TEST_F(ProgramTest, HelpListsWhatThereIs) {
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(output_, AllOf(HasSubstr("good"), HasSubstr("works"),
                             Not(HasSubstr("later"))));
  EXPECT_EQ(run({"--version"}), 0);
  EXPECT_EQ(output_, "tool 1.2\n");
}

TEST_F(ProgramTest, WithoutACommandItSaysHowItIsUsed) {
  EXPECT_EQ(run({}), 2);
  EXPECT_THAT(errors_, HasSubstr("usage: tool COMMAND"));
  EXPECT_EQ(output_, "");
}

TEST_F(ProgramTest, AnUnknownCommandIsBadInput) {
  EXPECT_EQ(run({"goood"}), 2);
  EXPECT_EQ(errors_,
            "tool: there is no command 'goood'; did you mean 'good'?\n");
  EXPECT_EQ(run({"later"}), 2);
  EXPECT_EQ(errors_, "tool: later does not exist yet: use good\n");
}

TEST_F(ProgramTest, WhatACommandThrowsBecomesALineAndAStatus) {
  EXPECT_EQ(status_of([] { throw InputError("no such file"); }), 2);
  EXPECT_EQ(errors_, "tool: no such file\n");
  EXPECT_EQ(status_of([] { throw std::runtime_error("broken"); }), 1);
  EXPECT_EQ(errors_, "tool: broken\n");
  EXPECT_EQ(status_of([] { throw ContractViolated("C4"); }), 3);
  EXPECT_EQ(status_of([] { throw Interrupted(SIGTERM, "stopped"); }), 143);
  EXPECT_EQ(status_of([] { throw std::bad_alloc(); }), 1);
  EXPECT_EQ(status_of([] { throw 42; }), 1);
}

}  // namespace
}  // namespace mishap::cli
