#include <gmock/gmock.h>
#include <mishap/faultinject/plan.h>

#include <array>
#include <random>

#include "support.h"

namespace mishap::faultinject {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Term only_term(std::string_view text) {
  const Plan plan = Plan::parse(text);
  EXPECT_THAT(plan.rules, SizeIs(1));
  EXPECT_THAT(plan.rules.front().terms, SizeIs(1));
  return plan.rules.front().terms.front();
}

TEST(PlanTest, AnEmptyTextIsAnEmptyPlan) {
  for (const char* text : {"", " \t\r\n", ";;\n;", "# nothing\n", "#"}) {
    EXPECT_EQ(Plan::parse(text), Plan()) << text;
  }
}

TEST(PlanTest, ReadsTheExampleOfTheManual) {
  const Plan plan = Plan::parse(
      "hook/training_step/module = 2*off -> 1*throw(runtime, \"boom\")");
  ASSERT_THAT(plan.rules, SizeIs(1));
  EXPECT_EQ(plan.rules[0].name.text(), "hook/training_step/module");
  ASSERT_THAT(plan.rules[0].terms, SizeIs(2));
  EXPECT_EQ(plan.rules[0].terms[0].count, 2u);
  EXPECT_EQ(plan.rules[0].terms[0].action, ActionKind::kOff);
  EXPECT_EQ(plan.rules[0].terms[1].action, ActionKind::kThrow);
  EXPECT_THAT(plan.rules[0].terms[1].arguments, ElementsAre("runtime", "boom"));
}

TEST(PlanTest, SeparatesItemsBySemicolonsAndLinesAndSkipsComments) {
  const Plan plan = Plan::parse(
      "# what fails\nseed=7; hook/a/b=off # first\r\n\n"
      "user/x = print ;;hook/c/callback.Spy#2=hang");
  EXPECT_EQ(plan.seed, 7u);
  ASSERT_THAT(plan.rules, SizeIs(3));
  EXPECT_EQ(plan.rules[2].name.text(), "hook/c/callback.Spy#2");
}

TEST(PlanTest, TakesModifiersInAnyOrder) {
  for (const char* text :
       {"op/x=12.5%3*off", "op/x=3*12.5%off", "op/x= 3 * 12.5 % off"}) {
    const Term term = only_term(text);
    EXPECT_EQ(term.percent, 12.5) << text;
    EXPECT_EQ(term.count, 3u) << text;
  }
  EXPECT_EQ(only_term("op/x=.5%off").percent, 0.5);
  EXPECT_EQ(only_term("op/x=0*off").count, 0u);
  EXPECT_EQ(only_term("op/x=100%off").percent, 100.0);
}

TEST(PlanTest, ReadsQuotedTextWithEveryEscape) {
  const Term term =
      only_term(R"(op/x=throw(runtime, "a\"b\\c\nd\te\x41 ;,->()[]#="))");
  EXPECT_EQ(term.arguments.at(1), "a\"b\\c\nd\teA ;,->()[]#=");
}

TEST(PlanTest, TrimsBareArguments) {
  EXPECT_EQ(only_term("op/x=print(  two words # here\t)").arguments.at(0),
            "two words # here");
  EXPECT_THAT(only_term("op/x=hang( )").arguments, IsEmpty());
}

TEST(PlanTest, ReadsEveryFilter) {
  const Term term = only_term(
      "hook/a/b=off [entry fit][stage \"save checkpoint\"] [epoch 2..5]"
      "[batch 3] [step 17][rank 1][thread main][every 5]");
  ASSERT_THAT(term.filters, SizeIs(8));
  EXPECT_EQ(term.filters[0].text, "fit");
  EXPECT_EQ(term.filters[1].text, "save checkpoint");
  EXPECT_EQ(term.filters[2].first, 2);
  EXPECT_EQ(term.filters[2].last, 5);
  EXPECT_EQ(term.filters[3].first, 3);
  EXPECT_EQ(term.filters[3].last, 3);
  EXPECT_EQ(term.filters[7].key, FilterKey::kEvery);
  EXPECT_EQ(term.filters[7].first, 5);
}

TEST(PlanTest, PrintsOneCanonicalForm) {
  EXPECT_EQ(Plan::parse("user/x=3*50%throw( runtime , two words )[epoch 2..2]"
                        "\n seed = 7 # end")
                .to_string(),
            "seed=7;user/x=50%3*throw(runtime,\"two words\")[epoch 2]");
}

TEST(PlanTest, PrintsNothingButPrintableAscii) {
  EXPECT_EQ(Plan::parse("op/x=print(\"\\xc3\\xa9\\x00\\n\")").to_string(),
            "op/x=print(\"\\xc3\\xa9\\x00\\n\")");
}

class RandomPlan {
 public:
  explicit RandomPlan(unsigned seed) : random_(seed) {}

  Plan make() {
    Plan plan;
    if (chance()) plan.seed = random_();
    for (unsigned i = below(4); i > 0; --i) {
      Rule rule{NamePattern(pick(kNames)), {}, {}};
      for (unsigned n = 1 + below(3); n > 0; --n) rule.terms.push_back(term());
      plan.rules.push_back(std::move(rule));
    }
    return plan;
  }

 private:
  static constexpr std::array kNames = {"hook/training_step/module",
                                        "hook/*/callback.Spy#2:after",
                                        "**",
                                        "op/aten::add",
                                        "user/a-b/c.d",
                                        "io/**/write"};
  static constexpr std::array kFilters = {FilterKey::kEntry, FilterKey::kEpoch,
                                          FilterKey::kThread,
                                          FilterKey::kEvery};

  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  bool chance() { return below(2) == 0; }
  template <typename Array>
  typename Array::value_type pick(const Array& array) {
    return array[below(array.size())];
  }

  std::string text() {
    std::string text;
    for (unsigned n = below(12); n > 0; --n) {
      text += static_cast<char>(below(256));
    }
    return text;
  }

  Term term() {
    Term term;
    if (chance()) term.percent = below(100001) / 1000.0;
    if (chance()) term.count = random_();
    switch (below(5)) {
      case 0:
        term.action = ActionKind::kThrow;
        term.arguments = {"runtime", text()};
        break;
      case 1:
        term.action = ActionKind::kPrint;
        term.arguments = {text()};
        break;
      case 2:
        term.action = ActionKind::kSleep;
        term.arguments = {std::to_string(below(1000))};
        break;
      case 3:
        term.action = ActionKind::kErrno;
        term.arguments = {"ENOSPC"};
        break;
      default:
        break;
    }
    for (const FilterKey key : kFilters) {
      if (below(4) == 0) term.filters.push_back(filter(key));
    }
    return term;
  }

  Filter filter(FilterKey key) {
    Filter filter;
    filter.key = key;
    if (key == FilterKey::kEntry || key == FilterKey::kThread) {
      filter.text = "x" + text();
      return filter;
    }
    filter.first = 1 + below(9);
    filter.last =
        key == FilterKey::kEvery ? filter.first : filter.first + below(4);
    return filter;
  }

  std::mt19937_64 random_;
};

TEST(PlanTest, ReadingWhatWasPrintedGivesTheSamePlan) {
  RandomPlan random(20240117);
  for (int i = 0; i < 2000; ++i) {
    const Plan plan = random.make();
    const std::string text = plan.to_string();
    const Plan again = Plan::parse(text);
    ASSERT_EQ(again, plan) << text;
    ASSERT_EQ(again.to_string(), text);
  }
}

TEST(PlanTest, PlacesAreNoPartOfItsValue) {
  EXPECT_EQ(Plan::parse("op/x=off"), Plan::parse("\n\n   op/x = off"));
  EXPECT_NE(Plan::parse("op/x=off"), Plan::parse("op/x=1*off"));
}

TEST(PlanTest, AnActionAloneCanBeRead) {
  const Term term = parse_action(" throw(int, 3) ");
  EXPECT_EQ(action_text(term), "throw(int,3)");
  EXPECT_THAT(message_of([] { parse_action("off -> off"); }),
              ::testing::HasSubstr("found '-' behind the action"));
  EXPECT_THROW(parse_action(""), PlanError);
}

TEST(PlanTest, FindsRulesThatMatchNoKnownPoint) {
  const std::vector<std::string> known = {"hook/setup/module",
                                          "hook/teardown/module:after"};
  const Plan plan = Plan::parse(
      "hook/setup/module=off; hook/setup/module:after=off; "
      "hook/stup/module=off;"
      "hook/*/module=off; hook/*/data=off; op/aten::add=off; **/module=off");
  const auto problems = plan.unmatched(known);
  ASSERT_THAT(problems, SizeIs(2));
  EXPECT_EQ(problems[0].rule, 2u);
  EXPECT_EQ(problems[0].message,
            "fault plan, item 3, column 53: no point of this run is called "
            "'hook/stup/module'; did you mean 'hook/setup/module'?");
  EXPECT_EQ(problems[1].name, "hook/*/data");
}

}  // namespace
}  // namespace mishap::faultinject
