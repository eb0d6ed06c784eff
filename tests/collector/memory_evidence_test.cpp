#include <gtest/gtest.h>
#include <mishap/collector/crash/memory_evidence.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "temporary_folder.h"

namespace mishap::collector {
namespace {

namespace fs = std::filesystem;

class MemoryEvidenceTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const fs::path file = root() + path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string root() const { return folder_ / "root"; }
  MemoryEvidence evidence() const { return memory_evidence(7, root()); }

 private:
  TemporaryFolder folder_;
};

TEST_F(MemoryEvidenceTest, ReadsVersion2) {
  write("/proc/7/cgroup", "0::/job/step\n");
  const std::string group = "/sys/fs/cgroup/job/step";
  write(group + "/memory.events",
        "low 0\nhigh 4\nmax 30\noom 3\noom_kill 2\noom_group_kill 0\n");
  write(group + "/memory.peak", "104857600\n");
  write(group + "/memory.max", "134217728\n");
  EXPECT_EQ(evidence().oom_kills, 2);
  EXPECT_EQ(evidence().peak_bytes, 104'857'600);
  EXPECT_EQ(evidence().limit_bytes, 134'217'728);
}

TEST_F(MemoryEvidenceTest, ReadsVersion1BesideVersion2) {
  write("/proc/7/cgroup",
        "5:devices:/\n4:cpu,memory:/a:b\n3:cpuset:/\n0::/unified\n");
  const std::string group = "/sys/fs/cgroup/memory/a:b";
  write(group + "/memory.oom_control",
        "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
  write(group + "/memory.max_usage_in_bytes", "1000\n");
  write(group + "/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(evidence().oom_kills, 5);
  EXPECT_EQ(evidence().peak_bytes, 1000);
  EXPECT_EQ(evidence().limit_bytes, std::nullopt);
}

// A container is told the path of the host and shown its own group only.
TEST_F(MemoryEvidenceTest, TakesWhatIsMountedWhereThePathIsAnothers) {
  write("/proc/7/cgroup", "0::/../../docker/0123\n");
  write("/sys/fs/cgroup/memory.events", "oom_kill 1\n");
  write("/sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(evidence().oom_kills, 1);
  EXPECT_EQ(evidence().limit_bytes, std::nullopt);
  EXPECT_EQ(evidence().peak_bytes, std::nullopt);
}

TEST_F(MemoryEvidenceTest, SaysNothingWhereThereIsNothing) {
  EXPECT_EQ(evidence().oom_kills, std::nullopt);
  write("/proc/7/cgroup", "nonsense\n1:\n");
  EXPECT_EQ(evidence().oom_kills, std::nullopt);
}

TEST(MemoryEvidence, ReadsThoseOfThisProcess) {
  if (!fs::exists("/sys/fs/cgroup")) GTEST_SKIP();
  const MemoryEvidence evidence = memory_evidence(getpid());
  if (evidence.oom_kills) {
    EXPECT_GE(*evidence.oom_kills, 0);
  }
}

}  // namespace
}  // namespace mishap::collector
