#include <gtest/gtest.h>
#include <mishap/collector/crash/text_tail.h>

#include <string>

namespace mishap::collector {
namespace {

std::string tail_of(const std::string& text, std::size_t piece) {
  TextTail tail;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    tail.add(std::string_view(text).substr(at, piece));
  }
  return tail.text();
}

TEST(TextTailTest, KeepsAShortTextAsItIs) {
  EXPECT_EQ(tail_of("", 1), "");
  EXPECT_EQ(tail_of("one\ntwo", 2), "one\ntwo");
  EXPECT_EQ(tail_of("\n\none\n", 1), "\n\none\n");
}

TEST(TextTailTest, KeepsTheLastLines) {
  std::string text;
  std::string last;
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    text += line;
    if (i >= 1000 - TextTail::kLines) last += line;
  }
  for (const std::size_t piece : {1U, 7U, 4096U, 100'000U}) {
    EXPECT_EQ(tail_of(text, piece), last) << piece;
  }
}

TEST(TextTailTest, BeginsWithAWholeLineWhereItIsCutByBytes) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += std::string(300, 'x') + "\n";
  for (const std::size_t piece : {11U, 8192U, 100'000U}) {
    const std::string tail = tail_of(text, piece);
    EXPECT_EQ(tail.size() % 301, 0U) << piece;
    EXPECT_LE(tail.size(), TextTail::kBytes);
    EXPECT_GT(tail.size(), TextTail::kBytes - 301);
  }
}

TEST(TextTailTest, KeepsTheEndOfALineThatIsLongerThanAllItKeeps) {
  const std::string text = std::string(50'000, 'x') + "end";
  EXPECT_EQ(tail_of(text, 4096), text.substr(text.size() - TextTail::kBytes));
}

}  // namespace
}  // namespace mishap::collector
