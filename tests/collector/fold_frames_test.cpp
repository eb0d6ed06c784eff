#include <gtest/gtest.h>
#include <mishap/collector/record/fold_frames.h>
#include <mishap/collector/record_writer.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::collector {
namespace {

using nlohmann::json;

std::vector<RecordFrame> frames_of(std::string_view functions) {
  std::vector<RecordFrame> frames(functions.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i].address = 0x1000 + i;
    frames[i].function = functions.substr(i, 1);
    frames[i].in_app = functions[i] != 'x';
  }
  return frames;
}

std::string names_of(std::span<const RecordFrame> frames) {
  std::string names;
  for (const RecordFrame& frame : frames) names += frame.function;
  return names;
}

struct Row {
  std::string_view functions;
  std::string_view folded;
  std::vector<std::array<std::size_t, 3>> repeats;
};

TEST(FoldFrames, KeepsOneOfWhatComesInARow) {
  for (const Row& row :
       std::vector<Row>{{"", "", {}},
                        {"abc", "abc", {}},
                        {"abbbbc", "abc", {{1, 1, 4}}},
                        {"abcbcbcd", "abcd", {{1, 2, 3}}},
                        {"aab", "ab", {{0, 1, 2}}},
                        {"abb", "ab", {{1, 1, 2}}},
                        {"abababa", "aba", {{0, 2, 3}}},
                        {"aabcc", "abc", {{0, 1, 2}, {2, 1, 2}}}}) {
    std::vector<RecordFrame> frames = frames_of(row.functions);
    std::array<RecordRepeat, 4> repeats;
    const FoldedFrames folded = fold_frames(frames, repeats);
    EXPECT_EQ(names_of(std::span(frames).first(folded.frames)), row.folded);
    ASSERT_EQ(folded.repeats, row.repeats.size()) << row.functions;
    for (std::size_t i = 0; i < folded.repeats; ++i) {
      EXPECT_EQ(repeats[i].first, row.repeats[i][0]);
      EXPECT_EQ(repeats[i].frames, row.repeats[i][1]);
      EXPECT_EQ(repeats[i].times, row.repeats[i][2]);
    }
  }
}

TEST(FoldFrames, WithoutNamesGoByAddress) {
  std::vector<RecordFrame> frames = frames_of("aaaa");
  for (RecordFrame& frame : frames) frame.function = {};
  std::array<RecordRepeat, 1> repeats;
  EXPECT_EQ(fold_frames(frames, repeats).frames, 4U);
  for (RecordFrame& frame : frames) frame.address = 0x1000;
  EXPECT_EQ(fold_frames(frames, repeats).frames, 1U);
}

TEST(FoldFrames, WithoutRoomStayAsTheyAre) {
  std::vector<RecordFrame> frames = frames_of("aabb");
  std::array<RecordRepeat, 1> one;
  const FoldedFrames folded = fold_frames(frames, one);
  EXPECT_EQ(names_of(std::span(frames).first(folded.frames)), "abb");
  EXPECT_EQ(folded.repeats, 1U);
}

// The frames that a record leaves out do not shift the numbers of the rest.
TEST(FoldFrames, AreNumberedAsTheyStandInTheRecord) {
  const std::vector<RecordFrame> frames = frames_of("xxxxxxab");
  const std::array repeats = {RecordRepeat{6, 2, 5}, RecordRepeat{5, 1, 3}};
  std::array<RecordException, 1> exceptions;
  exceptions[0].type = "int";
  exceptions[0].stack.frames = frames;
  exceptions[0].stack.repeats = repeats;
  Record record;
  record.exceptions = exceptions;
  RecordLimits limits;
  limits.frames = 6;
  std::string line(kRecordBufferBytes, '\0');
  line.resize(write_record(record, line, limits));
  const json stack = json::parse(line)["exceptions"][0]["stack"];
  ASSERT_EQ(stack["frames"].size(), 6U);
  // The second one's only frame was left out.
  ASSERT_EQ(stack["repeats"].size(), 1U);
  const json& repeat = stack["repeats"][0];
  EXPECT_EQ(stack["frames"][repeat["first"].get<std::size_t>()]["function"],
            "a");
  EXPECT_EQ(repeat["frames"], 2);
  EXPECT_EQ(repeat["times"], 5);
}

}  // namespace
}  // namespace mishap::collector
