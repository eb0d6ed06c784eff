#include <gtest/gtest.h>
#include <mishap/trainer/harness/program/content_hash.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
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

struct FailedCall {
  const char* point;
  std::uint64_t hit;
  const char* action;
  // What the program says of that call, and of what follows from it.
  std::vector<const char*> said;
};

class PreloadAgentCall : public ::testing::TestWithParam<FailedCall> {};

// The call gives what libc's gives when it fails, and has done nothing.
TEST_P(PreloadAgentCall, FailsAsTheRealOneWould) {
  AgentRun agent(Mode::kFork, program({"calls"}));
  agent.plan(GetParam().point, GetParam().hit, GetParam().action);
  ASSERT_EQ(agent.run(), 0) << agent.errors();
  ASSERT_EQ(agent.cases.size(), 1U);
  const AgentCase& seen = agent.cases.front();
  EXPECT_EQ(seen.obstacles, 0U);
  EXPECT_TRUE(seen.has_fired);
  EXPECT_EQ(seen.status, 0);
  for (const char* const line : GetParam().said) {
    EXPECT_NE(seen.standard_error.find(line), std::string::npos)
        << line << " in:\n"
        << seen.standard_error;
  }
  EXPECT_EQ(seen.catch_kind, CatchKind::kIgnored);
  // The program itself saw nothing of it.
  EXPECT_EQ(agent.errors().find("No space"), std::string::npos);
  EXPECT_EQ(agent.errors().find(" -1 I"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Each, PreloadAgentCall,
    ::testing::Values(
        FailedCall{"io/open",
                   1,
                   "errno(EMFILE)",
                   {"open -1 Too many open files", "write -1 Bad file"}},
        FailedCall{"io/write", 1, "errno(ENOSPC)", {"write -1 No space"}},
        FailedCall{"io/write", 1, "short(2)", {"write 2", "writev 4"}},
        FailedCall{"io/write",
                   1,
                   "torn(2)",
                   {"write 2", "writev -1 No space", "pwrite -1 No space",
                    "fwrite 0 No space"}},
        FailedCall{"io/write", 2, "errno(EIO)", {"writev -1 Input/output"}},
        FailedCall{"io/write", 2, "short(1)", {"writev 1"}},
        FailedCall{"io/write", 3, "errno(EIO)", {"pwrite -1 Input/output"}},
        FailedCall{"io/fsync", 1, "errno(EIO)", {"fsync -1 Input/output"}},
        FailedCall{"io/read", 1, "errno(EIO)", {"pread -1 Input/output"}},
        FailedCall{"io/read", 2, "short(1)", {"read 1 "}},
        FailedCall{"io/close",
                   1,
                   "errno(EIO)",
                   {"close -1 Input/output", "twice -1\n"}},
        FailedCall{"io/rename", 1, "errno(EXDEV)", {"rename -1 Invalid cross"}},
        FailedCall{"io/mkdir", 1, "errno(ENOSPC)", {"mkdir -1 No space"}},
        FailedCall{"io/open", 2, "errno(EMFILE)", {"fopen 0 Too many"}},
        FailedCall{
            "io/write", 4, "errno(ENOSPC)", {"fwrite 0 No space", "ferror 1"}},
        FailedCall{"io/write",
                   4,
                   "torn(5)",
                   {"fwrite 2 No space", "ferror 1", "fprintf -1 No space"}},
        FailedCall{"io/write", 5, "errno(ENOSPC)", {"fprintf -1 No space"}},
        FailedCall{"io/write", 6, "errno(ENOSPC)", {"fflush -1 No space"}},
        FailedCall{
            "io/read", 3, "errno(EIO)", {"fread 0 Input/output", "ferror 1"}},
        FailedCall{"io/close", 2, "errno(EIO)", {"fclose -1 Input/output"}}));

TEST(PreloadAgent, ALastingFaultFailsAllLaterHits) {
  AgentRun agent(Mode::kFork, program({"calls"}));
  agent.plan("io/write", 2, "errno(EIO)", true);
  ASSERT_EQ(agent.run(), 0);
  ASSERT_EQ(agent.cases.size(), 1U);
  const std::string& said = agent.cases.front().standard_error;
  // Nothing is left for fflush() to write.
  for (const char* const line :
       {"writev -1 Input", "pwrite -1 Input", "fwrite 0 Input",
        "fprintf -1 Input", "fflush 0"}) {
    EXPECT_NE(said.find(line), std::string::npos) << line << " in " << said;
  }
}

// Every hit of a program fails once, each in a child; what the program itself
// leaves and prints is what it leaves and prints alone.
TEST(PreloadAgent, ForkedCasesChangeNothingForTheProgram) {
  AgentRun alone(Mode::kCount, program({"report"}));
  ASSERT_EQ(alone.run(), 0);
  AgentRun agent(Mode::kFork, program({"report"}));
  std::size_t planned = 0;
  for (const char* const point : {"io/write", "alloc/new"}) {
    for (std::uint64_t hit = 1; hit <= alone.hits(point); ++hit) {
      agent.plan(point, hit,
                 point[0] == 'i' ? "errno(ENOSPC)" : "throw(bad_alloc)");
      ++planned;
    }
  }
  ASSERT_GE(planned, 80U);
  // As the supervisor does: what a case has done to the files is undone.
  std::string report;
  std::string raw;
  agent.before_case = [&](std::uint32_t) {
    report = agent.content("report");
    raw = agent.content("raw");
  };
  agent.after_case = [&](std::uint32_t) {
    std::ofstream(agent.work() + "/report", std::ios::binary) << report;
    std::ofstream(agent.work() + "/raw", std::ios::binary) << raw;
  };
  ASSERT_EQ(agent.run(), 0) << agent.errors();
  ASSERT_EQ(agent.cases.size(), planned);
  for (const AgentCase& seen : agent.cases) {
    EXPECT_TRUE(seen.has_fired) << seen.number;
    // Out of memory ends it by terminate(), a failed write with its status, and
    // the last one with that of closing.
    EXPECT_TRUE(seen.status == 3 || seen.status == 4 || seen.status == 134)
        << seen.status;
  }
  EXPECT_EQ(agent.content("report"), alone.content("report"));
  EXPECT_EQ(agent.content("raw"), alone.content("raw"));
  EXPECT_EQ(agent.output(), alone.output());
  EXPECT_EQ(agent.control().sequence_hash.load(),
            alone.control().sequence_hash.load());
}

TEST(PreloadAgent, FailsTheOneCaseInTheProcessItself) {
  AgentRun agent(Mode::kSingle, program({"report"}));
  agent.plan("io/write", 5, "errno(ENOSPC)");
  EXPECT_EQ(agent.run(), 3);
  EXPECT_TRUE(agent.look().has_fired);
  EXPECT_EQ(agent.look().path, agent.work() + "/report");
}

TEST(PreloadAgent, FailsEveryFormOfOperatorNew) {
  AgentRun count(Mode::kCount, program({"allocations"}));
  ASSERT_EQ(count.run(), 0);
  const std::uint64_t hits = count.hits("alloc/new");
  ASSERT_EQ(hits, 8U);
  AgentRun agent(Mode::kFork, program({"allocations"}));
  for (std::uint64_t hit = 1; hit <= hits; ++hit) {
    agent.plan("alloc/new", hit, "throw(bad_alloc)");
  }
  ASSERT_EQ(agent.run(), 0);
  ASSERT_EQ(agent.cases.size(), hits);
  for (const AgentCase& seen : agent.cases) {
    // The plain forms throw, the others give null.
    EXPECT_EQ(seen.status, seen.number < 4 ? 100 : 1) << seen.number;
  }
}

TEST(PreloadAgent, ACaseRunsTheHandlersOfTheUserAndEndsWithTheStatus) {
  AgentRun agent(Mode::kFork, program({"handlers"}));
  agent.plan("alloc/new", 1, "print(here)");
  ASSERT_EQ(agent.run(), 7);
  ASSERT_EQ(agent.cases.size(), 1U);
  EXPECT_EQ(agent.cases.front().status, 7);
  EXPECT_EQ(agent.cases.front().standard_error,
            "mishap: alloc/new: here\nhandler of the user\n");
}

TEST(PreloadAgent, SaysWhatForbidsForking) {
  AgentRun count(Mode::kCount, program({"threaded"}));
  ASSERT_EQ(count.run(), 0);
  const std::uint64_t hits = count.hits("alloc/new");
  AgentRun agent(Mode::kFork, program({"threaded"}));
  agent.plan("alloc/new", hits, "throw(bad_alloc)");
  ASSERT_EQ(agent.run(), 0);
  ASSERT_EQ(agent.cases.size(), 1U);
  EXPECT_EQ(agent.cases.front().obstacles,
            static_cast<std::uint32_t>(program::Obstacle::kThreads));
  // It is tried in a run of its own instead.
  AgentRun single(Mode::kSingle, program({"threaded"}));
  single.plan("alloc/new", hits, "throw(bad_alloc)");
  EXPECT_EQ(single.run(), 5) << single.errors();
}

TEST(PreloadAgent, ARunningTimerForbidsForking) {
  for (const char* sort : {"interval", "posix"}) {
    AgentRun agent(Mode::kFork, program({"timed", sort}));
    agent.plan("alloc/new", 1, "throw(bad_alloc)");
    ASSERT_EQ(agent.run(), 0);
    ASSERT_EQ(agent.cases.size(), 1U);
    EXPECT_EQ(agent.cases.front().obstacles,
              static_cast<std::uint32_t>(program::Obstacle::kTimers))
        << sort;
  }
}

TEST(PreloadAgent, HelpersAndChildrenOfTheProgramAreLeftAlone) {
  AgentRun helpers(Mode::kSingle, program({"helpers"}));
  helpers.plan("io/write", 1, "errno(ENOSPC)", true);
  EXPECT_EQ(helpers.run(), 0) << helpers.errors();
  EXPECT_EQ(helpers.content("of_shell"), "text\n");
  EXPECT_FALSE(helpers.look().has_fired);

  AgentRun alone(Mode::kCount, program({"forks"}));
  ASSERT_EQ(alone.run(), 0);
  EXPECT_EQ(alone.hits("alloc/new"), 2U);
  EXPECT_EQ(alone.hits("io/open"), 0U);
}

TEST(PreloadAgent, TellsWhatWasDoneToFiles) {
  AgentRun agent(Mode::kCount, program({"calls"}));
  ASSERT_EQ(agent.run(), 0);
  const auto flags = [](std::initializer_list<program::Touch> all) {
    std::uint32_t sum = 0;
    for (const program::Touch one : all) {
      sum |= static_cast<std::uint32_t>(one);
    }
    return sum;
  };
  using enum program::Touch;
  EXPECT_EQ(agent.touches("plain"), flags({kCreated, kWritten, kRenamedAway}));
  EXPECT_EQ(agent.touches("renamed"), flags({kRenamedTo}));
  EXPECT_EQ(agent.touches("folder"), flags({kFolderMade}));
  EXPECT_EQ(agent.touches("stream"), flags({kCreated, kWritten}));
  // Of `plain` when it was closed, of the same as `renamed`, of `stream`.
  EXPECT_EQ(agent.control().version_count.load(), 3U);
  const auto hash_of = [](const std::string& content) {
    program::ContentHash hash;
    hash.feed(content.data(), content.size());
    return hash.value();
  };
  EXPECT_EQ(agent.control().versions[0].hash, hash_of("ABcdefghij"));
  EXPECT_EQ(agent.control().versions[1].hash, hash_of("ABcdefghij"));
  EXPECT_EQ(agent.control().versions[2].hash, hash_of("1234567890"));
}

TEST(PreloadAgent, BeginsAgainInTheNextImageOfTheProcess) {
  AgentRun agent(Mode::kCount, program({"exec"}));
  ASSERT_EQ(agent.run(), 0) << agent.errors();
  EXPECT_EQ(agent.control().images.load(), 2U);
  EXPECT_EQ(agent.hits("alloc/new"), 5U);
}

TEST(PreloadAgent, ATableThatIsFullIsSaidAndHarmsNothing) {
  AgentRun agent(Mode::kCount, program({"report"}));
  agent.control().stack_count.store(program::kStacks);
  agent.control().text_size.store(program::kTextBytes);
  agent.control().touch_count.store(program::kTouches);
  EXPECT_EQ(agent.run(), 0) << agent.errors();
  EXPECT_GT(agent.control().overflows.load(), 0U);
  EXPECT_GT(agent.hits("alloc/new"), 20U);
}

TEST(PreloadAgent, CountsOnlyWhatIsAskedFor) {
  AgentRun agent(Mode::kCount, program({"calls"}));
  AgentRun::put(agent.control().patterns, "io/re*\nalloc/**");
  ASSERT_EQ(agent.run(), 0);
  EXPECT_EQ(agent.hits("io/read"), 3U);
  EXPECT_EQ(agent.hits("io/rename"), 1U);
  EXPECT_EQ(agent.hits("io/write"), 0U);
  AgentRun files(Mode::kCount, program({"calls"}));
  AgentRun::put(files.control().files, "str*\n/nowhere/*");
  ASSERT_EQ(files.run(), 0);
  EXPECT_EQ(files.hits("io/open"), 1U);
  EXPECT_EQ(files.hits("io/rename"), 0U);
}

// A plan instead of a control file: the record of the end names the fault.
class PreloadAgentPlan : public ::testing::Test {
 protected:
  void run(const char* plan, std::vector<std::string> words) {
    AgentRun agent(Mode::kCount, std::move(words));
    agent.variables[program::kControlVariable] = "";
    agent.variables["MISHAP_SWEEP_FAULTS"] = plan;
    agent.variables["MISHAP_RECORDS"] = records_.path();
    status = agent.run();
    errors = agent.errors();
    std::ifstream in(records_.path() + "/records.jsonl");
    for (std::string line; std::getline(in, line);) {
      records.push_back(nlohmann::json::parse(line));
    }
  }

  int status = -1;
  std::string errors;
  std::vector<nlohmann::json> records;

 private:
  testing::TempFolder records_;
};

TEST_F(PreloadAgentPlan, AnErrorThatNobodyCatchesIsRecordedWithItsFault) {
  run("alloc/new=1*throw(bad_alloc)", program({"catches", "none"}));
  EXPECT_EQ(status, 128 + SIGABRT) << errors;
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0]["kind"], "crash");
  EXPECT_EQ(records[0]["fault"]["spec"], "alloc/new=1*throw(bad_alloc)");
  EXPECT_EQ(records[0]["exceptions"][0]["type"], "std::bad_alloc");
}

TEST_F(PreloadAgentPlan, AFailedCallAndAnHonestExitAreRecordedWithTheFault) {
  run("io/write=2*off->1*errno(ENOSPC)", program({"report"}));
  EXPECT_EQ(status, 3) << errors;
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0]["kind"], "exit");
  EXPECT_EQ(records[0]["fault"]["spec"], "io/write=2*off->1*errno(ENOSPC)");
  EXPECT_TRUE(records[0]["exceptions"].empty());
}

TEST_F(PreloadAgentPlan, ThatNothingStruckIsSaid) {
  run("io/fsync=1*errno(EIO)", program({"report"}));
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(records.empty());
  EXPECT_NE(errors.find("mishap: io/fsync: this fault has not struck"),
            std::string::npos)
      << errors;
}

TEST_F(PreloadAgentPlan, ABadPlanEndsItBeforeItBegins) {
  run("io/write=1*errno(ENOSPCE)", program({"report"}));
  EXPECT_EQ(status, 2);
  EXPECT_NE(errors.find("ENOSPC"), std::string::npos) << errors;
}

TEST_F(PreloadAgentPlan, HelpersOfTheProgramAreLeftAlone) {
  run("io/write=errno(ENOSPC)", program({"helpers"}));
  EXPECT_EQ(status, 0) << errors;
}

}  // namespace
}  // namespace mishap
