#include <gmock/gmock.h>
#include <mishap/collector/modules.h>
#include <mishap/collector/resolve/resolver.h>
#include <mishap/trainer/harness/cli/child.h>
#include <mishap/trainer/harness/cli/stored_frames.h>
#include <mishap/trainer/harness/cli/table.h>
#include <mishap/trainer/harness/scratch_folder.h>

#include <fstream>
#include <string>

namespace mishap::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

[[gnu::noinline]] std::uintptr_t return_address() {
  return reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
}

int line_of_call = 0;
[[gnu::noinline]] std::uintptr_t address_in_this_file() {
  line_of_call = __LINE__ + 1;
  const std::uintptr_t address = return_address();
  asm volatile("" : : "r"(address));
  return address;
}

class StoredFramesTest : public ::testing::Test {
 protected:
  StoredFramesTest() {
    collector::refresh_modules();
    const auto index = collector::find_module(address_in_this_file());
    module_ = &collector::module_at(static_cast<std::size_t>(index));
    frame_.address = address_in_this_file();
    frame_.module = 0;
    frame_.offset = frame_.address - module_->load_address;
  }

  void write_row(const std::string& file, const std::string& run_id,
                 const std::string& build_id) const {
    std::ofstream(folder_.path() + "/" + file, std::ios::app)
        << R"({"run_id": ")" << run_id << R"(", "modules": [{"path": ")"
        << module_->path << R"(", "build_id": ")" << build_id << "\"}]}\n";
  }

  StoredFrames frames(const std::string& build_id) const {
    write_row("runs.jsonl", "r", build_id);
    return StoredFrames(folder_.path(), "r");
  }

  ScratchFolder folder_;
  const collector::Module* module_ = nullptr;
  collector::UnnamedFrame frame_;
};

TEST_F(StoredFramesTest, ReadsTheBuildIdThatTheLoaderSees) {
  EXPECT_EQ(build_id_of(module_->path), module_->build_id_hex());
  EXPECT_EQ(build_id_of("/proc/self/status"), "");
  EXPECT_EQ(build_id_of("/nowhere"), "");
}

TEST_F(StoredFramesTest, NamesAFrameByTheFileItLiesIn) {
  if (collector::resolver_backend() != "libbacktrace") {
    GTEST_SKIP() << "this build reads no other files";
  }
  const auto named = frames(module_->build_id_hex()).name(frame_);
  ASSERT_FALSE(named.empty());
  EXPECT_THAT(named.back().function, HasSubstr("address_in_this_file"));
  EXPECT_THAT(named.back().file, EndsWith("stored_frames_test.cpp"));
  EXPECT_EQ(named.back().line, line_of_call);
}

TEST_F(StoredFramesTest, NamesNothingFromAnotherBuild) {
  EXPECT_THAT(frames("00ff").name(frame_), IsEmpty());
  EXPECT_THAT(StoredFrames(folder_.path(), "other").name(frame_), IsEmpty());
}

TEST_F(StoredFramesTest, ReadsRowsThatWerePutAside) {
  write_row("runs.jsonl", "new", "b3");
  write_row("runs.jsonl.1", "both", "b2");
  write_row("runs.jsonl.2", "old", "b1");
  write_row("runs.jsonl.2", "both", "b1");
  const auto module_of = [this](const std::string& run_id) {
    return StoredFrames(folder_.path(), run_id).module_name(0);
  };
  EXPECT_EQ(module_of("new"), "b3");
  EXPECT_EQ(module_of("old"), "b1");
  EXPECT_EQ(module_of("both"), "b2");
  EXPECT_EQ(module_of("none"), "");
}

TEST(Child, TellsStatusOutputAndErrorsApart) {
  ChildEnvironment environment;
  environment.set = {{"WORD", "set"}};
  environment.unset = {"HOME"};
  const ChildResult result = run_child(
      {"sh", "-c", "echo $WORD$HOME; echo wrong >&2; exit 7"}, environment);
  EXPECT_EQ(result.status, 7);
  EXPECT_EQ(result.output, "set\n");
  EXPECT_EQ(result.errors, "wrong\n");
  EXPECT_EQ(run_child({"sh", "-c", "kill -TERM $$"}, {}).status, 143);
  EXPECT_THROW(run_child({"/nowhere/program"}, {}), std::system_error);
}

TEST(TableTest, AlignsNamesLeftAndNumbersRight) {
  Table table({"entry point", "hits"});
  table.add({"fit", "1024"});
  EXPECT_EQ(table.text(), "entry point  hits\nfit          1024\n");
  EXPECT_EQ(table.markdown(),
            "| entry point | hits |\n|---|---:|\n| fit | 1024 |\n");
}

}  // namespace
}  // namespace mishap::cli
