#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/collector/clock.h>
#include <mishap/collector/pending/slot_format.h>
#include <mishap/collector/pending_slot.h>
#include <mishap/collector/recover_pending.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "allocation_counter.h"
#include "box_helpers.h"
#include "sample_records.h"
#include "temporary_folder.h"

namespace mishap::collector {
namespace {

using nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr std::string_view kRun = "01980000-0000-7000-8000-0000000000aa";

class PendingSlotTest : public testing::Test {
 protected:
  PendingSlotTest() {
    fs::create_directory(runtime_);
    fs::create_directory(records_);
    setenv("XDG_RUNTIME_DIR", runtime_.c_str(), 1);
  }
  ~PendingSlotTest() override { unsetenv("XDG_RUNTIME_DIR"); }

  // Runs `body` in a child that then ends without a word.
  static void in_killed_child(const std::function<void(PendingSlot&)>& body) {
    const pid_t child = fork();
    if (child == 0) {
      PendingSlot slot;
      body(slot);
      raise(SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }

  std::vector<std::string> slots_in(const std::string& folder) const {
    std::vector<std::string> slots;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      if (name.starts_with(kSlotPrefix)) slots.push_back(entry.path());
    }
    return slots;
  }

  json only_record(const RecordSink& sink) const {
    const auto lines = lines_in(sink.records_path());
    EXPECT_EQ(lines.size(), 1U);
    return lines.empty() ? json() : json::parse(lines.front());
  }

  TemporaryFolder folder_;
  std::string runtime_ = folder_ / "runtime";
  std::string records_ = folder_ / "records";
};

TEST_F(PendingSlotTest, ACleanRunLeavesNoFileAndNoFolder) {
  const std::string missing = folder_ / "not/made";
  for (const std::string& records : {records_, missing}) {
    PendingSlot slot;
    ASSERT_TRUE(slot.open(records, kRun)) << slot.problem();
    slot.hold(samples::line_of(samples::minimal()));
    samples::enter(slot, {.what = samples::kTrainingStep});
    EXPECT_TRUE(fs::exists(slot.path()));
    slot.close();
  }
  EXPECT_TRUE(fs::is_empty(records_));
  EXPECT_TRUE(fs::is_empty(runtime_));
  EXPECT_FALSE(fs::exists(folder_ / "not"));
}

TEST_F(PendingSlotTest, LiesBesideTheRecordsWhenTheirFolderIsThere) {
  PendingSlot slot;
  ASSERT_TRUE(slot.open(records_, kRun));
  EXPECT_EQ(slots_in(records_).size(), 1U);
  PendingSlot other;
  ASSERT_TRUE(other.open(folder_ / "missing", kRun));
  EXPECT_EQ(slots_in(runtime_).size(), 1U);
}

TEST_F(PendingSlotTest, AKilledRunBecomesARecordOfTheLastPlace) {
  in_killed_child([this](PendingSlot& slot) {
    slot.open(records_, kRun);
    slot.hold(samples::line_of(samples::minimal()));
    BoxWriter writer;
    writer.attach(slot.box());
    samples::name_samples(slot);
    writer.enter({.what = samples::kTeardown});
    usleep(2'000);
    writer.leave(samples::kTeardown);
    writer.enter({.what = samples::kTrainingStep, .epoch = 1, .batch = 12});
  });
  RecordSink sink({.folder = records_});
  const Recovered recovered = recover_pending(sink);
  EXPECT_EQ(recovered.appended, 1U);
  const json record = only_record(sink);
  EXPECT_EQ(record["kind"], "killed");
  EXPECT_EQ(record["record_id"], samples::minimal().record_id);
  EXPECT_EQ(record["stage"], "train");
  EXPECT_EQ(record["hook"], "training_step");
  EXPECT_EQ(record["component"], "module");
  EXPECT_EQ(record["epoch"], 1);
  EXPECT_EQ(record["batch_index"], 12);
  EXPECT_TRUE(record["global_step"].is_null());
  const json& crumbs = record["breadcrumbs"];
  ASSERT_EQ(crumbs.size(), 2U);
  EXPECT_EQ(crumbs[0]["hook"], "teardown");
  EXPECT_EQ(crumbs[0]["components"], json({"callback.Spy"}));
  EXPECT_GE(crumbs[0]["took_micros"], 2'000);
  EXPECT_GE(crumbs[0]["ago_micros"], crumbs[0]["took_micros"]);
  EXPECT_EQ(crumbs[1]["hook"], "training_step");
  EXPECT_EQ(crumbs[1]["ago_micros"], 0);
  EXPECT_TRUE(crumbs[1]["took_micros"].is_null());
  EXPECT_THAT(record["notes"].back().get<std::string>(),
              HasSubstr("ended without reaching its guard"));
  EXPECT_TRUE(slots_in(records_).empty());
}

// The record tells when the run was last heard of, on both clocks.
TEST_F(PendingSlotTest, AKilledRunIsDatedByItsLastBreadcrumb) {
  const Clock& clock = Clock::system();
  const std::int64_t before = clock.steady_nano();
  in_killed_child([this](PendingSlot& slot) {
    Record record = samples::minimal();
    record.steady_nano = Clock::system().steady_nano();
    record.time_unix_nano = Clock::system().unix_nano();
    slot.open(records_, kRun);
    slot.hold(samples::line_of(record));
    usleep(20'000);
    samples::enter(slot, {.what = samples::kTrainingStep});
    usleep(20'000);
  });
  const std::int64_t after = clock.steady_nano();
  RecordSink sink({.folder = records_});
  recover_pending(sink);
  const json record = only_record(sink);
  const auto nanos = [&](const char* key) {
    return std::stoll(record[key].get<std::string>());
  };
  EXPECT_GE(nanos("steady_nano"), before + 20'000'000);
  EXPECT_LE(nanos("steady_nano"), after - 20'000'000);
  EXPECT_NEAR(static_cast<double>(nanos("time_unix_nano") - clock.unix_nano()),
              static_cast<double>(nanos("steady_nano") - clock.steady_nano()),
              1e7);
}

TEST_F(PendingSlotTest, ASlotOfAnotherReleaseIsLeftAlone) {
  in_killed_child([this](PendingSlot& slot) {
    slot.open(records_, kRun);
    slot.hold(samples::line_of(samples::minimal()));
  });
  const std::string path = slots_in(records_).at(0);
  const int file = open(path.c_str(), O_RDWR);
  const char version = '9';
  ASSERT_EQ(pwrite(file, &version, 1, SlotHeader::kMagic.size() - 1), 1);
  close(file);
  RecordSink sink({.folder = records_});
  const Recovered recovered = recover_pending(sink);
  EXPECT_EQ(recovered.appended, 0U);
  EXPECT_EQ(recovered.damaged, 0U);
  EXPECT_TRUE(fs::exists(path));
}

TEST_F(PendingSlotTest, ARecoveredLineHasTheKeysInTheOrderOfAllLines) {
  in_killed_child([this](PendingSlot& slot) {
    slot.open(records_, kRun);
    slot.hold(samples::line_of(samples::minimal()));
  });
  RecordSink sink({.folder = records_});
  recover_pending(sink);
  const auto keys = [](const std::string& line) {
    const auto record = nlohmann::ordered_json::parse(line);
    std::vector<std::string> names;
    for (const auto& [key, value] : record.items()) names.push_back(key);
    return names;
  };
  EXPECT_EQ(keys(lines_in(sink.records_path()).at(0)),
            keys(samples::line_of(samples::minimal())));
}

TEST_F(PendingSlotTest, AFrozenRecordKeepsItsKindAndPlace) {
  in_killed_child([this](PendingSlot& slot) {
    slot.open(records_, kRun);
    slot.hold(samples::line_of(samples::minimal()));
    slot.freeze(samples::line_of(samples::typical()));
    samples::enter(slot, {.what = samples::kTeardown});
  });
  RecordSink sink({.folder = records_});
  EXPECT_EQ(recover_pending(sink).appended, 1U);
  const json record = only_record(sink);
  EXPECT_EQ(record["kind"], "error");
  EXPECT_EQ(record["hook"], "training_step");
  EXPECT_EQ(record["exceptions"][0]["type"], "c10::IndexError");
}

TEST_F(PendingSlotTest, AFileRemovedForTheExitLeavesTheBoxInUse) {
  PendingSlot slot;
  ASSERT_TRUE(slot.open(records_, kRun));
  slot.hold(samples::line_of(samples::typical()));
  slot.remove_for_exit();
  EXPECT_THAT(slots_in(records_), testing::IsEmpty());
  samples::enter(slot, {.what = samples::kTrainingStep, .step = 8});
  EXPECT_EQ(slot.box().place()->step, 8);
}

TEST_F(PendingSlotTest, ARunWhoseFolderWasNeverMadeIsFoundToo) {
  const std::string missing = folder_ / "made/later";
  in_killed_child([&](PendingSlot& slot) {
    slot.open(missing, kRun);
    slot.hold(samples::line_of(samples::minimal()));
  });
  RecordSink other({.folder = records_});
  EXPECT_EQ(recover_pending(other).appended, 0U);
  RecordSink sink({.folder = missing});
  EXPECT_EQ(recover_pending(sink).appended, 1U);
  EXPECT_EQ(only_record(sink)["kind"], "killed");
  EXPECT_TRUE(slots_in(runtime_).empty());
}

TEST_F(PendingSlotTest, ARunAtWorkIsLeftAlone) {
  PendingSlot slot;
  ASSERT_TRUE(slot.open(records_, kRun));
  slot.hold(samples::line_of(samples::minimal()));
  RecordSink sink({.folder = records_});
  const Recovered recovered = recover_pending(sink);
  EXPECT_EQ(recovered.alive, 1U);
  EXPECT_EQ(recovered.appended, 0U);
  EXPECT_TRUE(fs::exists(slot.path()));
}

TEST_F(PendingSlotTest, AProcessWithTheSameIdIsNotTakenForTheOwner) {
  std::string path;
  {
    PendingSlot slot;
    ASSERT_TRUE(slot.open(records_, kRun));
    slot.hold(samples::line_of(samples::minimal()));
    path = slot.path() + "-copy";
    fs::copy_file(slot.path(), path);
  }
  const int file = open(path.c_str(), O_RDWR);
  SlotHeader header;
  ASSERT_EQ(pread(file, static_cast<void*>(&header), sizeof header, 0),
            static_cast<ssize_t>(sizeof header));
  RecordSink sink({.folder = records_});
  EXPECT_EQ(recover_pending(sink).alive, 1U);
  header.start_ticks += 1;
  ASSERT_EQ(pwrite(file, static_cast<void*>(&header), sizeof header, 0),
            static_cast<ssize_t>(sizeof header));
  EXPECT_EQ(recover_pending(sink).appended, 1U);
  close(file);
}

TEST_F(PendingSlotTest, ADamagedTextGivesWayToTheOneBefore) {
  in_killed_child([this](PendingSlot& slot) {
    slot.open(records_, kRun);
    slot.hold(samples::line_of(samples::minimal()));
    slot.freeze(samples::line_of(samples::typical()));
  });
  const int file = open(slots_in(records_).at(0).c_str(), O_RDWR);
  SlotHeader header;
  ASSERT_GT(pread(file, static_cast<void*>(&header), sizeof header, 0), 0);
  ASSERT_EQ(pwrite(file, "torn", 4, slot_text_offset(header.active) + 50), 4);
  close(file);
  RecordSink sink({.folder = records_});
  EXPECT_EQ(recover_pending(sink).appended, 1U);
  EXPECT_EQ(only_record(sink)["kind"], "killed");
}

TEST_F(PendingSlotTest, WhatIsNoSlotIsRemovedAndCounted) {
  const std::string name = "/" + std::string(kSlotPrefix);
  std::ofstream(records_ + name + "999999999-x") << "not a slot";
  in_killed_child([this](PendingSlot& slot) {
    slot.open(records_, kRun);
    slot.freeze("{\"no\":\"newline and no record\"");
  });
  RecordSink sink({.folder = records_});
  const Recovered recovered = recover_pending(sink);
  EXPECT_EQ(recovered.damaged, 2U);
  EXPECT_EQ(recovered.appended, 0U);
  EXPECT_TRUE(slots_in(records_).empty());
}

TEST_F(PendingSlotTest, SeveralRecoverersAppendARecordOnce) {
  for (int i = 0; i < 5; ++i) {
    in_killed_child([&](PendingSlot& slot) {
      slot.open(records_, std::to_string(i));
      slot.freeze(samples::line_of(samples::typical()));
    });
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      RecordSink sink(
          {.folder = records_, .lock_wait = std::chrono::seconds(10)});
      recover_pending(sink);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(lines_in(records_ + "/records.jsonl").size(), 5U);
  EXPECT_TRUE(slots_in(records_).empty());
}

TEST_F(PendingSlotTest, AForkedChildDoesNotTouchTheSlotOfItsParent) {
  PendingSlot slot;
  ASSERT_TRUE(slot.open(records_, kRun));
  slot.hold(samples::line_of(samples::minimal()));
  samples::enter(slot, {.what = samples::kTrainingStep, .step = 8});
  const std::string before = content_of(slot.path());
  const pid_t child = fork();
  if (child == 0) {
    const bool kept = slot.box().place()->step == 8 &&
                      !slot.names()->find(BoxNames::Kind::kHook, 1).empty();
    samples::enter(slot, {.what = samples::kTeardown});
    slot.freeze(samples::line_of(samples::typical()));
    slot.close();
    _exit(kept ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(slot.box().place()->step, 8);
  EXPECT_EQ(content_of(slot.path()), before);
  RecordSink sink({.folder = records_});
  EXPECT_EQ(recover_pending(sink).alive, 1U);
}

TEST_F(PendingSlotTest, AFullDiskCostsTheSlotAndNothingElse) {
  PendingSlot slot;
  rlimit previous;
  getrlimit(RLIMIT_FSIZE, &previous);
  const rlimit small{100, previous.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_FALSE(slot.open(records_, kRun));
  setrlimit(RLIMIT_FSIZE, &previous);
  EXPECT_FALSE(slot.problem().empty());
  samples::enter(slot, {.what = samples::kTrainingStep, .step = 8});
  slot.hold(samples::line_of(samples::minimal()));
  slot.freeze(samples::line_of(samples::typical()));
  slot.close();
  EXPECT_EQ(slot.box().place()->step, 8);
  EXPECT_TRUE(slots_in(records_).empty());
}

TEST_F(PendingSlotTest, ADiskThatFillsLaterLeavesTheTextBefore) {
  in_killed_child([this](PendingSlot& slot) {
    slot.open(records_, kRun);
    slot.hold(samples::line_of(samples::minimal()));
    const rlimit small{kSlotPagesBytes + 4'096, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &small);
    slot.freeze(samples::line_of(samples::typical()));
  });
  RecordSink sink({.folder = records_});
  EXPECT_EQ(recover_pending(sink).appended, 1U);
  EXPECT_EQ(only_record(sink)["kind"], "killed");
}

TEST_F(PendingSlotTest, KeepingTheBoxAndFreezingAllocateNothing) {
  PendingSlot slot;
  ASSERT_TRUE(slot.open(records_, kRun));
  const std::string line = samples::line_of(samples::typical());
  const std::size_t before = allocations();
  samples::enter(slot, {.what = samples::kTrainingStep});
  slot.freeze(line);
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace mishap::collector
