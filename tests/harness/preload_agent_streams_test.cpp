#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent_run.h"

namespace mishap {
namespace {

using program::Mode;
using testing::AgentCase;
using testing::AgentRun;

std::vector<std::string> streams() { return {MISHAP_AGENT_PROGRAM, "streams"}; }

// What a buffer swallows or holds is no call on the file.
TEST(PreloadAgentStreams, CountsTheCallsThatReachTheFile) {
  AgentRun agent(Mode::kCount, streams());
  ASSERT_EQ(agent.run(), 0) << agent.errors();
  EXPECT_EQ(agent.hits("io/write"), 12U);
  EXPECT_EQ(agent.hits("io/read"), 3U);
  EXPECT_EQ(agent.hits("io/open"), 6U);
}

struct FailedStream {
  const char* point;
  std::uint64_t hit;
  const char* action;
  std::vector<const char*> said;
  // What the file has when the case has ended; null: any.
  const char* file;
  const char* content;
};

class PreloadAgentStream : public ::testing::TestWithParam<FailedStream> {};

TEST_P(PreloadAgentStream, FailsAsTheRealOneWould) {
  const FailedStream& failed = GetParam();
  AgentRun agent(Mode::kFork, streams());
  agent.plan(failed.point, failed.hit, failed.action);
  std::string content;
  agent.after_case = [&](std::uint32_t) {
    content = failed.file == nullptr ? "" : agent.content(failed.file);
  };
  ASSERT_EQ(agent.run(), 0) << agent.errors();
  ASSERT_EQ(agent.cases.size(), 1U);
  const AgentCase& seen = agent.cases.front();
  EXPECT_TRUE(seen.has_fired);
  EXPECT_EQ(seen.status, 0);
  for (const char* const line : failed.said) {
    EXPECT_NE(('\n' + seen.standard_error).find('\n' + std::string(line)),
              std::string::npos)
        << line << " in:\n"
        << seen.standard_error;
  }
  if (failed.file != nullptr) {
    EXPECT_EQ(content, failed.content);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, PreloadAgentStream,
    ::testing::Values(
        // The disk is full, and only fclose() tells.
        FailedStream{
            "io/write", 2, "errno(ENOSPC)", {"fclose -1 No space"}, "late", ""},
        FailedStream{"io/write",
                     2,
                     "torn(4)",
                     {"fclose -1 No space", "putc 6", "unbuffered -1 No space",
                      "dprintf -1 No space"},
                     "late",
                     "held"},
        FailedStream{
            "io/write", 2, "short(4)", {"fclose 0"}, "late", "held back"},
        // The fifth character is too much for the buffer.
        FailedStream{"io/write",
                     3,
                     "errno(EIO)",
                     {"putc 6 Input/output", "put error 1", "fflush 0"},
                     "chars",
                     "fg"},
        FailedStream{"io/write",
                     4,
                     "errno(ENOSPC)",
                     {"fflush -1 No space", "nothing to flush 0"},
                     "chars",
                     "abcd"},
        FailedStream{"io/write",
                     5,
                     "errno(EIO)",
                     {"unbuffered -1 Input/output"},
                     "plain",
                     "y"},
        FailedStream{"io/write",
                     6,
                     "errno(EIO)",
                     {"unlocked -1 Input/output"},
                     "plain",
                     "x"},
        FailedStream{"io/write",
                     7,
                     "errno(EDQUOT)",
                     {"dprintf -1 Disk quota"},
                     "source",
                     ""},
        FailedStream{"io/write",
                     8,
                     "errno(ENOSPC)",
                     {"sendfile -1 No space"},
                     nullptr,
                     nullptr},
        FailedStream{
            "io/write", 8, "short(3)", {"sendfile 3 "}, nullptr, nullptr},
        FailedStream{"io/write",
                     9,
                     "errno(EIO)",
                     {"copy_file_range -1 Input/output"},
                     nullptr,
                     nullptr},
        FailedStream{"io/write",
                     9,
                     "torn(5)",
                     {"copy_file_range 5 ", "pwritev2 -1 No space",
                      "posix_fallocate 28"},
                     "grown",
                     "1234567812345"},
        FailedStream{"io/write",
                     10,
                     "errno(EIO)",
                     {"pwritev2 -1 Input/output"},
                     nullptr,
                     nullptr},
        FailedStream{"io/write",
                     11,
                     "errno(ENOSPC)",
                     {"posix_fallocate 28", "errno 0\n", "fallocate 0"},
                     nullptr,
                     nullptr},
        FailedStream{"io/write",
                     12,
                     "errno(ENOSPC)",
                     {"fallocate -1 No space"},
                     nullptr,
                     nullptr},
        FailedStream{"io/read",
                     1,
                     "errno(EIO)",
                     {"getc -1 Input/output", "get error 1"},
                     nullptr,
                     nullptr},
        FailedStream{"io/read",
                     2,
                     "errno(EIO)",
                     {"fscanf -1 Input/output"},
                     nullptr,
                     nullptr},
        FailedStream{"io/read",
                     3,
                     "errno(EIO)",
                     {"fgetc -1 Input/output"},
                     nullptr,
                     nullptr},
        FailedStream{"io/open",
                     6,
                     "errno(EMFILE)",
                     {"mkstemp -1 Too many"},
                     nullptr,
                     nullptr}));

}  // namespace
}  // namespace mishap
