#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "agent_run.h"

namespace mishap {
namespace {

using program::CatchKind;
using program::Mode;
using testing::AgentCase;
using testing::AgentRun;

// Lines are told apart by what is written behind them.
constexpr const char* kScript = R"(import os

def save(path):
    with open(path + ".part", "w") as file:  # opens
        file.write("content")
    os.rename(path + ".part", path)  # renames

def save_and_swallow(path):
    try:
        save(path)
    except OSError as error:  # swallows
        print("skipped", error)

def save_and_clean(path):
    try:
        save(path)
    finally:
        open("cleaned", "w").close()

def clean_and_swallow(path):
    try:
        save_and_clean(path)
    except OSError:  # swallows late
        pass

save_and_swallow("one")
save_and_swallow("two")
clean_and_swallow("three")
save("four")
)";

std::string line_of(const std::string& mark) {
  const std::string script = kScript;
  const std::size_t at = script.find("# " + mark + "\n");
  return std::to_string(1 + std::count(script.begin(),
                                       script.begin() + static_cast<long>(at),
                                       '\n'));
}

class PreloadAgentPython : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::ofstream(script_.path() + "/script.py") << kScript;
  }

  static std::vector<std::string> words() {
    return {"/usr/bin/python3", "-B", script()};
  }
  static std::string script() { return script_.path() + "/script.py"; }
  static std::string at(const std::string& mark, const std::string& function) {
    return script() + ":" + line_of(mark) + " " + function;
  }

  static AgentCase fail(const std::string& point, std::uint64_t hit,
                        const std::string& action) {
    AgentRun agent(Mode::kFork, words());
    agent.plan(point, hit, action);
    EXPECT_EQ(agent.run(), 0) << agent.errors();
    EXPECT_EQ(agent.cases.size(), 1U);
    return agent.cases.empty() ? AgentCase() : agent.cases.front();
  }

  static inline testing::TempFolder script_;
};

TEST_F(PreloadAgentPython, StacksHoldItsFrames) {
  AgentRun agent(Mode::kCount, words());
  AgentRun again(Mode::kCount, words());
  ASSERT_EQ(agent.run(), 0) << agent.errors();
  ASSERT_EQ(again.run(), 0);
  EXPECT_EQ(agent.control().has_python.load(), 1U);
  EXPECT_EQ(agent.hits("io/rename"), 4U);
  EXPECT_EQ(agent.control().sequence_hash.load(),
            again.control().sequence_hash.load());
  // The same line in four calls is four stacks.
  std::vector<std::string> renames;
  for (std::uint32_t i = 0; i < agent.control().stack_count.load(); ++i) {
    const program::StackEntry& stack = agent.control().stacks[i];
    const std::string python = agent.text(stack.python);
    if (python.starts_with(at("renames", "save"))) {
      renames.push_back(python);
    }
  }
  ASSERT_EQ(renames.size(), 4U);
  EXPECT_NE(renames.front().find("save_and_swallow\n"), std::string::npos)
      << renames.front();
}

TEST_F(PreloadAgentPython, TheLineThatSwallowsIsNamed) {
  const AgentCase seen = fail("io/rename", 1, "errno(EIO)");
  EXPECT_TRUE(seen.has_fired);
  EXPECT_EQ(seen.status, 0) << seen.standard_error;
  EXPECT_EQ(seen.catch_kind, CatchKind::kPython);
  EXPECT_EQ(seen.catch_python, at("swallows", "save_and_swallow"));
  EXPECT_TRUE(seen.hit_python.starts_with(at("renames", "save")))
      << seen.hit_python;
}

TEST_F(PreloadAgentPython, CleaningUpIsNotSwallowing) {
  const AgentCase seen = fail("io/rename", 3, "errno(EIO)");
  EXPECT_EQ(seen.status, 0) << seen.standard_error;
  EXPECT_EQ(seen.catch_kind, CatchKind::kPython);
  EXPECT_EQ(seen.catch_python, at("swallows late", "clean_and_swallow"));
}

TEST_F(PreloadAgentPython, AnErrorThatNobodyCatchesHasATracebackAndNoCatch) {
  const AgentCase seen = fail("io/rename", 4, "errno(EIO)");
  EXPECT_EQ(seen.status, 1);
  EXPECT_EQ(seen.catch_kind, CatchKind::kNone);
  EXPECT_NE(seen.standard_error.find("Traceback"), std::string::npos);
  EXPECT_NE(seen.standard_error.find("OSError: [Errno 5]"), std::string::npos);
}

}  // namespace
}  // namespace mishap
