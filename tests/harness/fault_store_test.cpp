#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/faultinject/hit_trace.h>
#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/scenario.h>
#include <mishap/trainer/harness/save_file.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "../temp_folder.h"

namespace mishap {
namespace {

using faultinject::HitTrace;
using faultinject::Plan;
using faultinject::PointId;
using faultinject::Scope;

class FaultStore : public ::testing::Test {
 protected:
  void SetUp() override { save_file(path(), "the old one"); }

  std::string path() const { return folder_ / "model.pt"; }
  std::string read() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void save(const std::string& plan) {
    const faultinject::Scenario armed =
        faultinject::arm(Plan::parse(plan), Scope::process());
    save_file(path(), "the new one", "checkpoint");
  }

  mishap::testing::TempFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
};

TEST_F(FaultStore, FailsEveryHitOfASaveAndTheOldFileStays) {
  std::vector<PointId> hits;
  {
    HitTrace trace(Scope::process());
    save_file(path(), "the old one", "checkpoint");
    trace.stop();
    hits = trace.sequence();
  }
  ASSERT_GE(hits.size(), 8U);
  std::size_t cases = 0;
  for (const PointId hit : hits) {
    const std::string point(faultinject::name_of(hit));
    ASSERT_TRUE(point.starts_with("io/checkpoint/")) << point;
    if (point.ends_with("/unlink")) {
      continue;  // Only the removal of the old name: a save may succeed then.
    }
    for (const char* error : {"ENOSPC", "EDQUOT", "EIO"}) {
      for (const char* mode : {"=1*", "="}) {
        try {
          save(point + mode + "errno(" + error + ")");
          ADD_FAILURE() << point << " was not told";
        } catch (const FileError& told) {
          EXPECT_NE(told.code().value(), 0) << point;
        }
        EXPECT_EQ(read(), "the old one") << point;
        ++cases;
      }
    }
  }
  EXPECT_GE(cases, 42U);
}

TEST_F(FaultStore, TheSecondSyncIsThatOfTheFolder) {
  EXPECT_THROW(save("io/checkpoint/fsync=1*off->1*errno(EIO)"), FileError);
  EXPECT_EQ(read(), "the old one");
}

TEST_F(FaultStore, AShortWriteIsCompletedATornOneLies) {
  save("io/checkpoint/write=1*short(3)");
  EXPECT_EQ(read(), "the new one");
  save("io/checkpoint/write=1*torn(3)");
  EXPECT_EQ(read(), "the");
}

TEST_F(FaultStore, DamagesWhatIsWritten) {
  save("io/checkpoint/write=1*bitflip(0)");
  EXPECT_EQ(read(), "uhe new one");
  save("io/checkpoint/write=1*corrupt");
  EXPECT_NE(read(), "the new one");
  EXPECT_EQ(read().size(), 11U);
}

TEST_F(FaultStore, ThrowsWhatAPlanThrowsAndRollsBack) {
  EXPECT_THROW(save("io/checkpoint/rename=throw(runtime)"), std::runtime_error);
  EXPECT_EQ(read(), "the old one");
  EXPECT_THROW(save("io/checkpoint/fsync=1*off->throw(runtime)"),
               std::runtime_error);
  EXPECT_EQ(read(), "the old one");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace mishap
