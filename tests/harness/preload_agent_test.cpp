#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "agent_run.h"

namespace mishap {
namespace {

using program::CatchKind;
using program::Mode;
using testing::AgentCase;
using testing::AgentRun;

std::vector<std::string> program(std::initializer_list<std::string> more) {
  std::vector<std::string> words{MISHAP_AGENT_PROGRAM};
  words.insert(words.end(), more);
  return words;
}

TEST(PreloadAgent, CountsTheCallsOnFiles) {
  AgentRun agent(Mode::kCount, program({"calls"}));
  ASSERT_EQ(agent.run(), 0) << agent.errors();
  EXPECT_EQ(agent.control().images.load(), 1U);
  EXPECT_EQ(agent.hits("io/open"), 2U);
  EXPECT_EQ(agent.hits("io/write"), 6U);
  EXPECT_EQ(agent.hits("io/read"), 3U);
  EXPECT_EQ(agent.hits("io/fsync"), 1U);
  EXPECT_EQ(agent.hits("io/rename"), 1U);
  EXPECT_EQ(agent.hits("io/mkdir"), 1U);
  EXPECT_EQ(agent.hits("io/close"), 2U);
  EXPECT_EQ(agent.control().overflows.load(), 0U);
}

TEST(PreloadAgent, TwoRunsHitTheSameInTheSameOrder) {
  AgentRun first(Mode::kCount, program({"report"}));
  AgentRun second(Mode::kCount, program({"report"}));
  ASSERT_EQ(first.run(), 0);
  ASSERT_EQ(second.run(), 0);
  EXPECT_EQ(first.points(), second.points());
  EXPECT_GT(first.hits("alloc/new"), 20U);
  EXPECT_NE(first.control().sequence_hash.load(), 0U);
  EXPECT_EQ(first.control().sequence_hash.load(),
            second.control().sequence_hash.load());
}

}  // namespace
}  // namespace mishap
