#include <fcntl.h>
#include <gtest/gtest.h>
#include <mishap/collector/run_facts.h>
#include <mishap/faultinject/scenario.h>
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "child_program.h"

namespace mishap::testing {
namespace {

using nlohmann::json;

class StateFields : public ::testing::Test {
 protected:
  // The record of a run of this body, which fails.
  json record_of(const std::function<void(mishap::Run&)>& body) {
    const Ended ended = child_.run([&] {
      try {
        guard("fit", body);
      } catch (const std::exception&) {
      }
      return 0;
    });
    EXPECT_EQ(ended.records.size(), 1U);
    rows_ = ended.rows;
    return ended.records.empty() ? json() : ended.records[0];
  }

  ChildProgram child_;
  std::vector<json> rows_;
};

TEST_F(StateFields, TheLastStepsHaveTheirLossAndTime) {
  const json record = record_of([](mishap::Run& run) {
    for (std::int64_t step = 0; step < 20; ++step) {
      run.step(step);
      run.note_loss(1.0 / static_cast<double>(step + 1));
      usleep(2000);
    }
    run.note_loss(std::nan(""));
    throw std::runtime_error("x");
  });
  const json& telemetry = record["telemetry"];
  ASSERT_EQ(telemetry.size(), 16U);
  EXPECT_EQ(telemetry[0]["step"], 4);
  EXPECT_DOUBLE_EQ(telemetry[0]["loss"], 0.2);
  EXPECT_GE(telemetry[0]["step_micros"], 1'900);
  EXPECT_EQ(telemetry[15]["step"], 19);
  EXPECT_TRUE(telemetry[15]["loss"].is_null());
  EXPECT_EQ(telemetry[15]["loss_word"], "NaN");
  EXPECT_TRUE(telemetry[15]["step_micros"].is_null());
}

TEST_F(StateFields, TheLastGoodCheckpointIsNamed) {
  const json record = record_of([](mishap::Run& run) {
    run.note_checkpoint({"a.ckpt", 1, "xxh3-128:01"});
    run.note_checkpoint({"b.ckpt", 4, "xxh3-128:02"});
    throw std::runtime_error("x");
  });
  EXPECT_EQ(record["resume"]["path"], "b.ckpt");
  EXPECT_EQ(record["resume"]["step"], 4);
  EXPECT_EQ(record["resume"]["checksum"], "xxh3-128:02");
}

TEST_F(StateFields, WithoutACheckpointNoneIsNamed) {
  const json record =
      record_of([](mishap::Run&) { throw std::runtime_error("x"); });
  EXPECT_TRUE(record["resume"]["path"].is_null());
  EXPECT_TRUE(record["resume"]["step"].is_null());
}

// pytorch#149739: killed, and nobody knows from where to go on.
TEST_F(StateFields, AKilledRunNamesItsCheckpoint) {
  child_.run([]() -> int {
    guard("fit", [](mishap::Run& run) {
      run.note_checkpoint({"b.ckpt", 4, {}});
      run.step(5);
      kill(getpid(), SIGKILL);
    });
    return 0;
  });
  const Ended next = child_.run([] {
    guard("fit", [](mishap::Run&) {});
    return 0;
  });
  ASSERT_EQ(next.records.size(), 1U);
  EXPECT_EQ(next.records[0]["kind"], "killed");
  EXPECT_EQ(next.records[0]["resume"]["path"], "b.ckpt");
  EXPECT_EQ(next.records[0]["resume"]["step"], 4);
}

TEST_F(StateFields, StepsFromTheFaultToTheFailureAreCounted) {
  const json record = record_of([](mishap::Run& run) {
    const faultinject::Scenario armed = faultinject::arm(
        faultinject::Plan::parse("hook/step/loop=2*off->1*delay(1)"),
        faultinject::Scope::process());
    for (std::int64_t step = 0; step < 6; ++step) {
      run.step(step);
    }
    throw std::runtime_error("x");
  });
  EXPECT_EQ(record["fault"]["hit"], 3);
  EXPECT_EQ(record["manifested_after_steps"], 3);
}

TEST_F(StateFields, WithoutAFaultNoStepsAreCounted) {
  const json record = record_of([](mishap::Run& run) {
    run.step(3);
    throw std::runtime_error("x");
  });
  EXPECT_TRUE(record["manifested_after_steps"].is_null());
}

TEST_F(StateFields, TheProcessIsSampled) {
  const json record = record_of([](mishap::Run&) {
    for (int i = 0; i < 20; ++i) {
      open("/dev/null", O_RDONLY);
    }
    throw std::runtime_error("x");
  });
  const json& process = record["process"];
  EXPECT_GT(process["rss_bytes"], 1'000'000);
  EXPECT_GE(process["peak_rss_bytes"], process["rss_bytes"]);
#if defined(__SANITIZE_THREAD__)
  EXPECT_EQ(process["threads"], 2) << "its own one and that of the sanitizer";
#else
  EXPECT_EQ(process["threads"], 1);
#endif
  EXPECT_GE(process["fds"], 20);
  EXPECT_LT(process["fds"], 60);
}

// Variables of this process while it lives.
class Variables {
 public:
  explicit Variables(std::vector<std::pair<const char*, const char*>> all)
      : all_(std::move(all)) {
    for (const auto& [name, value] : all_) {
      setenv(name, value, 1);
    }
  }
  ~Variables() {
    for (const auto& [name, value] : all_) {
      unsetenv(name);
    }
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  std::vector<std::pair<const char*, const char*>> all_;
};

TEST(JobFields, TellTorchrunsJobAndRank) {
  const Variables variables({{"TORCHELASTIC_RUN_ID", "job-7"},
                             {"TORCHELASTIC_RESTART_COUNT", "2"},
                             {"RANK", "3"},
                             {"WORLD_SIZE", "8"}});
  const collector::RunFacts facts = collector::RunFacts::gather();
  collector::RunRow row;
  facts.fill(row);
  EXPECT_EQ(row.job.scheduler, "torchrun");
  EXPECT_EQ(row.job.id, "job-7");
  EXPECT_EQ(row.job.step, "2");
  EXPECT_EQ(facts.rank(), 3);
  EXPECT_EQ(facts.world_size(), 8);
}

TEST(JobFields, TellTheBatchSystemAroundTheLauncher) {
  const Variables variables({{"TORCHELASTIC_RUN_ID", "job-7"},
                             {"SLURM_JOB_ID", "99"},
                             {"SLURM_JOB_NODELIST", "n[1-2]"},
                             {"SLURM_PROCID", "1"},
                             {"SLURM_NTASKS", "2"}});
  const collector::RunFacts facts = collector::RunFacts::gather();
  collector::RunRow row;
  facts.fill(row);
  EXPECT_EQ(row.job.scheduler, "slurm");
  EXPECT_EQ(row.job.id, "99");
  EXPECT_EQ(row.job.nodes, "n[1-2]");
  EXPECT_EQ(facts.rank(), 1);
  EXPECT_EQ(facts.world_size(), 2);
}

TEST(JobFields, TakeNoVariableOfAnybodyForAJob) {
  // JOB_ID alone is no mark of a scheduler, and this rank is no number.
  const Variables variables({{"JOB_ID", "5"}, {"RANK", "first"}});
  const collector::RunFacts facts = collector::RunFacts::gather();
  collector::RunRow row;
  facts.fill(row);
  EXPECT_NE(row.job.scheduler, "sge");
  EXPECT_FALSE(facts.rank());
}

}  // namespace
}  // namespace mishap::testing
