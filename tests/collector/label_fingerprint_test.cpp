#include <gtest/gtest.h>
#include <mishap/collector/label/fingerprint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <string>
#include <vector>

namespace mishap::collector {
namespace {

FingerprintFrame app(std::string_view function) {
  return {function, {}, 0, true};
}

std::vector<std::string> parts_of(const FingerprintInput& input) {
  Fingerprint fingerprint;
  fingerprint.compute(input);
  const RecordFingerprint view = fingerprint.view();
  return {view.parts.begin(), view.parts.end()};
}

std::string hash_of(const FingerprintInput& input) {
  Fingerprint fingerprint;
  fingerprint.compute(input);
  return std::string(fingerprint.view().hash);
}

class FingerprintTest : public ::testing::Test {
 protected:
  FingerprintInput input() const {
    FingerprintInput out;
    out.types = types_;
    out.stage = "train";
    out.hook = "training_step";
    out.component = "module";
    out.frames = frames_;
    out.message = "row 12 of /data/a/b.csv";
    return out;
  }

  std::vector<std::string_view> types_ = {"std::runtime_error", "int"};
  std::vector<FingerprintFrame> frames_ = {
      {"std::vector<int>::at(unsigned long)", {}, 0, false},
      app("app::load(int)"),
      app("app::step<float>(int) [clone .cold]"),
      app("main")};
};

TEST_F(FingerprintTest, PartsAreTypeStageHookComponentAndFramesOfTheProgram) {
  EXPECT_EQ(parts_of(input()),
            (std::vector<std::string>{"type: std::runtime_error < int",
                                      "stage: train", "hook: training_step",
                                      "component: module", "frame: app::load",
                                      "frame: app::step", "frame: main"}));
}

TEST_F(FingerprintTest, HashIsThatOfThePartsAsDocumented) {
  std::string all = "1\n";
  for (const std::string& part : parts_of(input())) all += part + '\n';
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits(all.data(), all.size()));
  std::string hex;
  for (const unsigned char byte : digest.digest) {
    hex += "0123456789abcdef"[byte / 16];
    hex += "0123456789abcdef"[byte % 16];
  }
  EXPECT_EQ(hash_of(input()), hex);
}

TEST_F(FingerprintTest, AtMostFiveFrames) {
  frames_ = {app("a"), app("b"), app("c"), app("d"), app("e"), app("f")};
  const auto parts = parts_of(input());
  EXPECT_EQ(parts.back(), "frame: e");
  EXPECT_EQ(parts.size(), 9U);
}

TEST_F(FingerprintTest, DepthOfARecursionDoesNotCount) {
  frames_ = {app("leaf"), app("walk"), app("walk"), app("main")};
  const std::string two_deep = hash_of(input());
  frames_.insert(frames_.begin() + 1, 30, app("walk"));
  EXPECT_EQ(hash_of(input()), two_deep);

  frames_ = {app("leaf"),       app("even(int)"), app("odd"),
             app("even(long)"), app("odd"),       app("main")};
  const auto parts = parts_of(input());
  EXPECT_EQ(std::vector(parts.end() - 4, parts.end()),
            (std::vector<std::string>{"frame: leaf", "frame: even",
                                      "frame: odd", "frame: main"}));
}

TEST_F(FingerprintTest, AllFramesWhereNoneIsTheProgramsOwn) {
  for (FingerprintFrame& frame : frames_) frame.in_app = false;
  EXPECT_EQ(parts_of(input())[4], "frame: std::vector::at");
}

TEST_F(FingerprintTest, BuildIdAndOffsetWhereThereIsNoName) {
  frames_ = {{{}, "abc1", 0x1f0, true}, {{}, "libc.so.6", 0, false}};
  const auto parts = parts_of(input());
  EXPECT_EQ(parts.back(), "offset: abc1+0x1f0");
  const std::string hash = hash_of(input());
  frames_[0].offset = 0x1f4;
  EXPECT_NE(hash_of(input()), hash);
}

TEST_F(FingerprintTest, MessageWithPlaceholdersWhereThereIsNoStack) {
  frames_.clear();
  EXPECT_EQ(parts_of(input()).back(), "message: row <n> of <path>");
}

TEST_F(FingerprintTest, WhereItHappenedCounts) {
  const std::string hash = hash_of(input());
  FingerprintInput other = input();
  other.stage = "validate";
  EXPECT_NE(hash_of(other), hash);
  other = input();
  other.hook = "backward";
  EXPECT_NE(hash_of(other), hash);
  other = input();
  other.component = "callback.A";
  EXPECT_NE(hash_of(other), hash);
  other = input();
  other.message = "row 13 of /data/a/b.csv";
  EXPECT_EQ(hash_of(other), hash);
}

TEST_F(FingerprintTest, HugeNamesAreCutNotRefused) {
  const std::string huge(100'000, 'n');
  types_.assign(8, huge);
  frames_.assign(96, app(huge));
  const auto parts = parts_of(input());
  EXPECT_EQ(parts.size(), 5U);
  EXPECT_EQ(hash_of(input()).size(), 32U);
}

}  // namespace
}  // namespace mishap::collector
