#include <mishap/trainer/harness/save_file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "guard_cases.h"

namespace mishap {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;

using CasesOfMemory = GuardCases;
using CasesOfSaving = GuardCases;

// Takes what is left in blocks that nobody gives back.
void take_all_memory() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_AS, &none);
  for (std::size_t size = std::size_t{1} << 30U; size > 0; size /= 2) {
    void* volatile block = nullptr;
    do {
      block = std::malloc(size);
    } while (block != nullptr);
  }
}

// A13
TEST_F(CasesOfMemory, BadAllocIsRecordedWhileThereIsNoMemory) {
  if (MISHAP_CASES_OWN_MEMORY == 0) {
    GTEST_SKIP() << "sanitizers do not live with a limit on memory";
  }
  EXPECT_EXIT(
      {
        try {
          guard(
              "fit",
              [](mishap::Run& run) {
                run.step(3);
                take_all_memory();
                std::vector<int> more(1000);
                run.step(static_cast<std::int64_t>(more.size()));
              },
              options_);
        } catch (const std::bad_alloc&) {
          _exit(7);
        }
        _exit(0);
      },
      ExitedWithCode(7), "");
  const std::vector<json> all = records();
  ASSERT_EQ(all.size(), 1U);
  json record = all.front();
  EXPECT_EQ(record["kind"], "error");
  EXPECT_EQ(record["exceptions"][0]["message"], "std::bad_alloc");
  EXPECT_EQ(record["exceptions"][0]["stack"]["origin"], "throw");
  EXPECT_EQ(record["global_step"], 3);
}

// A13
TEST_F(CasesOfMemory, OtherWordsForTooMuchMemoryKeepTheirTypes) {
  const std::vector<std::pair<std::string, std::function<void()>>> cases = {
      {"std::bad_array_new_length",
       [] {
         volatile std::int64_t size = -1;
         delete[] new int[static_cast<std::size_t>(size)];
       }},
      {"std::length_error", [] {
         std::vector<int> values;
         values.resize(values.max_size() + 1);
       }}};
  for (const auto& [type, allocate] : cases) {
    EXPECT_THROW(guard(
                     "fit", [&](mishap::Run&) { allocate(); }, options_),
                 std::exception);
    json record = records().back();
    EXPECT_EQ(record["exceptions"][0]["type"], type);
  }
}

// D6, D8
TEST_F(CasesOfSaving, FullDiskIsOneErrorWithItsErrnoAndTheOldFileStays) {
  save_file(file(), "the last good one", "checkpoint");
  const auto armed = arm("io/checkpoint/write=errno(ENOSPC)");
  json record = record_of<FileError>([&](mishap::Run& run) {
    run.step(0);
    save_file(file(), "the new one", "checkpoint");
  });
  EXPECT_EQ(record["exceptions"][0]["type"], "mishap::FileError");
  EXPECT_EQ(record["exceptions"][0]["code"], ENOSPC);
  EXPECT_THAT(record["exceptions"][0]["message"].get<std::string>(),
              AllOf(HasSubstr(folder_.path()), HasSubstr("model.pt")));
  EXPECT_EQ(record["fault"]["point"], "io/checkpoint/write");
  EXPECT_EQ(record["global_step"], 0);
  EXPECT_EQ(content(), "the last good one");
}

// D11
TEST_F(CasesOfSaving, FolderThatIsMissingIsToldWithItsErrno) {
  json record = record_of<FileError>([&](mishap::Run&) {
    save_file(folder_.path() + "/nowhere/model.pt", "bytes", "checkpoint");
  });
  EXPECT_EQ(record["exceptions"][0]["code"], ENOENT);
  EXPECT_THAT(record["exceptions"][0]["message"].get<std::string>(),
              AllOf(HasSubstr("nowhere"), HasSubstr("model.pt")));
}

// D7
TEST_F(CasesOfSaving, FileSizeLimitIsAnErrorAndItsSignalIsAsBefore) {
  save_file(file(), "old", "checkpoint");
  const rlimit small{64, 64};
  EXPECT_EXIT(
      {
        // The record has no room either: what counts is how the call ends.
        options_.capture.writes = false;
        std::signal(SIGXFSZ, SIG_DFL);
        setrlimit(RLIMIT_FSIZE, &small);
        int code = 0;
        try {
          guard(
              "fit",
              [&](mishap::Run&) {
                save_file(file(), std::string(4096, 'x'), "checkpoint");
              },
              options_);
        } catch (const FileError& error) {
          code = error.code().value();
        }
        struct sigaction now {};
        sigaction(SIGXFSZ, nullptr, &now);
        _exit(code == EFBIG && now.sa_handler == SIG_DFL ? 7 : 1);
      },
      ExitedWithCode(7), "");
  EXPECT_EQ(content(), "old");
}

// D10
TEST_F(CasesOfSaving, CtrlCDuringASaveIsHonouredWhenTheFileIsWhole) {
  save_file(file(), "old", "checkpoint");
  const auto armed = arm("io/checkpoint/write=1*interrupt(SIGINT)");
  json record = record_of<Interrupted>([&](mishap::Run& run) {
    run.step(4);
    save_file(file(), "new and whole", "checkpoint");
    run.step(5);
  });
  EXPECT_EQ(content(), "new and whole");
  EXPECT_EQ(record["kind"], "interrupt");
  EXPECT_EQ(record["interrupt"]["at"]["global_step"], 4);
  EXPECT_EQ(record["interrupt"]["honoured"]["global_step"], 5);
}

}  // namespace
}  // namespace mishap
