#include <gmock/gmock.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/values.h>

#include <array>
#include <functional>
#include <string>

namespace mishap::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string refusal(const std::function<void()>& read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "taken";
}

TEST(WholeNumber, IsReadWithinItsBounds) {
  EXPECT_EQ(whole_number("--limit", "20", 1, 20), 20);
  EXPECT_EQ(whole_number("--limit", "-3", -5, 5), -3);
}

TEST(WholeNumber, IsRefusedByNameBoundsAndText) {
  for (const char* text :
       {"21", "0", "", " 3", "3x", "3.5", "none", "99999999999999999999"}) {
    EXPECT_THAT(refusal([&] { whole_number("--limit", text, 1, 20); }),
                AllOf(HasSubstr("--limit"), HasSubstr("1 to 20"),
                      HasSubstr(std::string("'") + text + "'")));
  }
}

TEST(Number, RefusesWhatIsNotFinite) {
  EXPECT_EQ(number("rate", "2.5e-1", 0, 1), 0.25);
  for (const char* text : {"nan", "inf", "-0.1", "1.1", "fast"}) {
    EXPECT_THAT(refusal([&] { number("rate", text, 0, 1); }), HasSubstr(text));
  }
}

TEST(UnsignedNumber, HoldsSixtyFourBits) {
  EXPECT_EQ(unsigned_number("--seed", "18446744073709551615"), ~0ULL);
  EXPECT_THAT(refusal([] { unsigned_number("--seed", "-1"); }),
              HasSubstr("--seed"));
}

TEST(OneOf, SuggestsTheNearestWord) {
  constexpr std::array<std::string_view, 2> kWords{"transient", "persistent"};
  EXPECT_EQ(one_of("--mode", "transient", kWords), "transient");
  EXPECT_THAT(refusal([&] { one_of("--mode", "persistant", kWords); }),
              HasSubstr("did you mean 'persistent'"));
  EXPECT_THAT(refusal([&] { one_of("--mode", "x", kWords); }),
              HasSubstr("transient and persistent"));
}

TEST(Assignment, KeepsWhatStandsBehindTheFirstEqualsSign) {
  const auto [name, value] = assignment("--set", "a=b=c");
  EXPECT_EQ(name, "a");
  EXPECT_EQ(value, "b=c");
  EXPECT_EQ(assignment("--set", "a=").second, "");
  EXPECT_THAT(refusal([] { assignment("--set", "=b"); }), HasSubstr("'=b'"));
}

TEST(List, CutsOnlyOutsideOfBracketsAndQuotes) {
  EXPECT_THAT(list("throw(int, \"a, b)\") ,interrupt(SIGINT)"),
              ElementsAre("throw(int, \"a, b)\")", "interrupt(SIGINT)"));
  EXPECT_THAT(list(R"(throw(int, "a\",b"),x)"),
              ElementsAre(R"(throw(int, "a\",b"))", "x"));
  EXPECT_THAT(list(" , ,"), IsEmpty());
}

}  // namespace
}  // namespace mishap::cli
