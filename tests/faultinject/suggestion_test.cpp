#include <gtest/gtest.h>
#include <mishap/faultinject/suggestion.h>

#include <array>

namespace mishap::faultinject {
namespace {

TEST(SuggestionTest, DistanceCountsEditsAndSwaps) {
  EXPECT_EQ(edit_distance("throw", "throw"), 0u);
  EXPECT_EQ(edit_distance("thow", "throw"), 1u);
  EXPECT_EQ(edit_distance("htrow", "throw"), 1u);
  EXPECT_EQ(edit_distance("", "off"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(SuggestionTest, SuggestsOnlyWhatIsNear) {
  constexpr std::array<std::string_view, 3> kWords = {"off", "throw", "sleep"};
  EXPECT_EQ(nearest("slep", kWords), "sleep");
  EXPECT_EQ(nearest("elephant", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
  EXPECT_EQ(did_you_mean("trow", kWords, "no"), "did you mean 'throw'?");
  EXPECT_EQ(did_you_mean("elephant", kWords, "no"), "no");
}

TEST(SuggestionTest, JoinsAsInASentence) {
  constexpr std::array<std::string_view, 3> kWords = {"a", "b", "c"};
  EXPECT_EQ(join(kWords), "a, b and c");
  EXPECT_EQ(join(std::span(kWords).first(1)), "a");
  EXPECT_EQ(join({}), "");
}

}  // namespace
}  // namespace mishap::faultinject
