#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "agent_run.h"

namespace mishap {
namespace {

using program::CatchKind;
using program::Mode;
using testing::AgentCase;
using testing::AgentRun;

// The function in which a frame of the program is, by its symbol table.
std::string function_at(const program::CodePlace& place) {
  char hex[32];
  std::snprintf(hex, sizeof hex, "0x%lx",
                static_cast<unsigned long>(place.offset - 1));
  std::FILE* const pipe =
      popen(("addr2line -f -C -e " MISHAP_AGENT_PROGRAM " " + std::string(hex))
                .c_str(),
            "r");
  char line[512] = {};
  if (pipe == nullptr || std::fgets(line, sizeof line, pipe) == nullptr) {
    return "";
  }
  pclose(pipe);
  return line;
}

// The first allocation of the part is what fails.
AgentCase fail_first(const char* how) {
  AgentRun agent(Mode::kFork, {MISHAP_AGENT_PROGRAM, "catches", how});
  agent.plan("alloc/new", 1, "throw(bad_alloc)");
  EXPECT_EQ(agent.run(), 0) << agent.errors();
  EXPECT_EQ(agent.cases.size(), 1U);
  return agent.cases.empty() ? AgentCase() : agent.cases.front();
}

struct Caught {
  const char* how;
  const char* function;
};

class PreloadAgentCatch : public ::testing::TestWithParam<Caught> {};

// The handler that kept the error is named, not one that passed it on, and not
// that of another error after it.
TEST_P(PreloadAgentCatch, NamesTheHandlerThatKeptIt) {
  const AgentCase seen = fail_first(GetParam().how);
  EXPECT_TRUE(seen.has_fired);
  EXPECT_EQ(seen.status, 0);
  EXPECT_EQ(seen.thrown_type, "std::bad_alloc");
  EXPECT_EQ(seen.catch_kind, CatchKind::kHandler);
  ASSERT_FALSE(seen.catch_frames.empty());
  EXPECT_NE(function_at(seen.catch_frames.front()).find(GetParam().function),
            std::string::npos)
      << function_at(seen.catch_frames.front());
}

INSTANTIATE_TEST_SUITE_P(
    Each, PreloadAgentCatch,
    ::testing::Values(Caught{"swallow", "swallows"},
                      Caught{"rethrow", "keeps_what_was_passed_on"},
                      Caught{"translate", "keeps_what_was_translated"},
                      Caught{"pointer", "keeps_what_a_pointer_held"}));

TEST(PreloadAgentCatch, AnErrorThatNobodyCatchesEndsTheProgram) {
  const AgentCase seen = fail_first("none");
  EXPECT_TRUE(seen.has_fired);
  EXPECT_EQ(seen.status, 128 + SIGABRT);
  EXPECT_EQ(seen.catch_kind, CatchKind::kNone);
}

TEST(PreloadAgentCatch, ACallWhoseErrorNobodyAsksForIsIgnoredByItsCaller) {
  AgentRun agent(Mode::kFork, {MISHAP_AGENT_PROGRAM, "save", "silent"});
  agent.plan("io/write", 1, "errno(ENOSPC)");
  ASSERT_EQ(agent.run(), 0);
  ASSERT_EQ(agent.cases.size(), 1U);
  EXPECT_EQ(agent.cases.front().status, 0);
  EXPECT_EQ(agent.cases.front().catch_kind, CatchKind::kIgnored);
  EXPECT_EQ(agent.cases.front().path, agent.work() + "/saved");
}

TEST(PreloadAgentCatch, ACallWhoseErrorBecomesAnExceptionIsFollowed) {
  AgentRun agent(Mode::kFork, {MISHAP_AGENT_PROGRAM, "save", "throws"});
  agent.plan("io/write", 1, "errno(ENOSPC)");
  ASSERT_EQ(agent.run(), 0);
  ASSERT_EQ(agent.cases.size(), 1U);
  const AgentCase& seen = agent.cases.front();
  EXPECT_EQ(seen.status, 3);
  EXPECT_EQ(seen.catch_kind, CatchKind::kHandler);
  EXPECT_EQ(seen.thrown_type, "std::__ios_failure");
  ASSERT_FALSE(seen.catch_frames.empty());
  EXPECT_NE(function_at(seen.catch_frames.front()).find("main"),
            std::string::npos);
}

}  // namespace
}  // namespace mishap
