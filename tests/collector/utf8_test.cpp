#include <gtest/gtest.h>
#include <mishap/collector/utf8.h>

#include <string>

namespace mishap::collector {
namespace {

TEST(Utf8, AcceptsTheFirstAndLastCharacterOfEachLength) {
  for (const std::string_view text :
       {"\x01", "\x7f", "\u0080", "\u07ff", "\u0800", "\uffff", "\U00010000",
        "\U0010ffff", "\ud7ff", "\ue000"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_EQ(utf8_step(text).size, text.size());
  }
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndTooLargeValues) {
  for (const std::string_view text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe2\x82",
        "\xf0\x9f"}) {
    EXPECT_FALSE(is_utf8(text));
  }
}

TEST(Utf8, ReplacesTheLongestValidBeginningAtOnce) {
  EXPECT_EQ(utf8_step("\xe2\x82z").size, 2U);
  EXPECT_EQ(utf8_step("\xf0\x9f\x98 ").size, 3U);
  EXPECT_EQ(utf8_step("\xc0\x80").size, 1U);
}

TEST(Utf8, ACutNeverSplitsACharacter) {
  const std::string text = "a\u00e9\u20ac\U0001f600z";
  for (std::size_t limit = 0; limit <= text.size(); ++limit) {
    const std::string_view kept = clip_utf8(text, limit);
    EXPECT_LE(kept.size(), limit);
    EXPECT_TRUE(is_utf8(kept)) << limit;
    EXPECT_GT(kept.size() + 4, limit);
  }
}

TEST(Utf8, ACutOfInvalidBytesStaysAtTheLimit) {
  const std::string text(20, '\x80');
  EXPECT_EQ(clip_utf8(text, 10).size(), 10U);
}

}  // namespace
}  // namespace mishap::collector
