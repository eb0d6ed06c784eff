#include <gtest/gtest.h>
#include <mishap/faultinject/plan.h>

#include "support.h"

namespace mishap::faultinject {
namespace {

struct BadPlan {
  const char* text;
  std::uint32_t item;
  std::uint32_t line;
  std::uint32_t column;
  const char* message;
};

void PrintTo(const BadPlan& bad, std::ostream* out) { *out << bad.text; }

class PlanErrorTest : public ::testing::TestWithParam<BadPlan> {};

TEST_P(PlanErrorTest, NamesThePlaceTheFindingAndTheWayOut) {
  const BadPlan& bad = GetParam();
  try {
    Plan::parse(bad.text);
    FAIL() << "was read: " << bad.text;
  } catch (const PlanError& error) {
    EXPECT_EQ(error.place().item, bad.item);
    EXPECT_EQ(error.place().line, bad.line);
    EXPECT_EQ(error.place().column, bad.column);
    const std::string what = error.what();
    EXPECT_EQ(what.substr(what.find(": ") + 2), bad.message);
    EXPECT_EQ(what.find('\n'), std::string::npos);
  }
}

constexpr BadPlan kBadItems[] = {
    {"=off", 1, 1, 1,
     "found '=' where the name of a point begins; write items such as "
     "hook/training_step/module=throw(int)"},
    {"hook/a", 1, 1, 7,
     "'=' is missing behind 'hook/a', the text ends here; write name=action, "
     "or seed=number"},
    {"hook/a b=off", 1, 1, 8,
     "'=' is missing behind 'hook/a', found 'b'; write name=action, or "
     "seed=number"},
    {"op/x=off;\n hook//b=off", 2, 2, 7,
     "in the name 'hook//b' a level is empty; write letters, digits or _ . : # "
     "- there"},
    {"hook/a**/b=off", 1, 1, 6,
     "in the name 'hook/a**/b' '**' stands for whole levels; put it between "
     "slashes, or use '*'"},
    {"hook/a:after/b=off", 1, 1, 7,
     "in the name 'hook/a:after/b' ':after' stands in the middle; put it once, "
     "at the end of the whole name"},
    {"hok/a=off", 1, 1, 1,
     "there is no family of points 'hok'; did you mean 'hook'?"},
    {"zebra/a=off", 1, 1, 1,
     "there is no family of points 'zebra'; names begin with hook, op, alloc, "
     "io, loader, comm and user"},
    {"seed=7;seed=8", 2, 1, 8, "the seed is given twice; keep one of them"},
    {"seed=-1", 1, 1, 6,
     "the seed is no whole number of 64 bits; write such as seed=42"},
    {"seed=18446744073709551616", 1, 1, 6,
     "the seed is no whole number of 64 bits; write such as seed=42"},
    {"op/x=off off", 1, 1, 10,
     "found 'o' behind a complete item; go on with '->', or end the item with "
     "';' or a new line"},
    {"op/x=off\n->off", 2, 2, 1,
     "'->' begins an item; write all terms of a rule on one line"},
};

constexpr BadPlan kBadTerms[] = {
    {"op/x=", 1, 1, 6,
     "the text ends here where an action is expected; write one such as "
     "throw(runtime) or off"},
    {"op/x=off->", 1, 1, 11,
     "the text ends here where an action is expected; write one such as "
     "throw(runtime) or off"},
    {"op/x=\x01", 1, 1, 6,
     "found the byte 0x01 where an action is expected; write one such as "
     "throw(runtime) or off"},
    {"op/x=3", 1, 1, 7,
     "the number '3' has neither '%' nor '*' behind it; write 50% for a "
     "chance, 3* for a count"},
    {"op/x=3*4*off", 1, 1, 8, "a second count; keep one of them"},
    {"op/x=3%4%off", 1, 1, 8, "a second percentage; keep one of them"},
    {"op/x=101%off", 1, 1, 6,
     "'101' is no percentage; write a number from 0 to 100 before '%'"},
    {"op/x=1.2.3%off", 1, 1, 6,
     "'1.2.3' is no percentage; write a number from 0 to 100 before '%'"},
    {"op/x=1.5*off", 1, 1, 6,
     "'1.5' is no count; write a whole number before '*'"},
    {"op/x=thow(int)", 1, 1, 6, "unknown action 'thow'; did you mean 'throw'?"},
    {"op/x=explode", 1, 1, 6,
     "unknown action 'explode'; actions are off, return, print, pause, yield, "
     "sleep, delay, panic, throw, interrupt, signal, abort, exit, hang, errno, "
     "short, torn, nan, inf, zero, bitflip and corrupt"},
    {"op/x=off[epohc 2]", 1, 1, 10,
     "unknown filter 'epohc'; did you mean 'epoch'?"},
    {"op/x=off[weather fine]", 1, 1, 10,
     "unknown filter 'weather'; filters are entry, stage, epoch, batch, step, "
     "rank, thread and every"},
    {"op/x=off[epoch]", 1, 1, 15,
     "the filter 'epoch' has no value; write such as [epoch 2..5] or [stage "
     "train]"},
    {"op/x=off[epoch 5..2]", 1, 1, 16,
     "'5..2' is no number and no range; write such as 3 or 2..5"},
    {"op/x=off[epoch -1]", 1, 1, 16,
     "'-1' is no number and no range; write such as 3 or 2..5"},
    {"op/x=off[every 0]", 1, 1, 16,
     "'0' is no number of hits; write such as [every 5]"},
    {"op/x=off[epoch 1][epoch 2]", 1, 1, 19,
     "a second filter 'epoch'; keep one of them"},
    {"op/x=off[epoch 1", 1, 1, 17,
     "the filter 'epoch' is not closed, the text ends here; end it with ']'"},
};

constexpr BadPlan kBadArguments[] = {
    {"op/x=throw", 1, 1, 11,
     "in 'throw' an argument is missing; write a type and a text in "
     "parentheses"},
    {"op/x=throw(runtme)", 1, 1, 12,
     "in 'throw' unknown throw type 'runtme'; did you mean 'runtime'?"},
    {"op/x=throw(c10)", 1, 1, 12,
     "in 'throw' the throw type 'c10' belongs to the LibTorch part, which this "
     "program does not link; link the trainer component, or use a type such as "
     "'runtime'"},
    {"op/x=throw(bad_alloc, boom)", 1, 1, 23,
     "in 'throw' the throw type 'bad_alloc' takes no text; leave it out"},
    {"op/x=throw(int, many)", 1, 1, 17,
     "in 'throw' 'many' is no whole number that an int holds; write a number, "
     "or leave it out"},
    {"op/x=throw(int, 1, 2)", 1, 1, 20,
     "in 'throw' the argument '2' is too many; write only a type and a text"},
    {"op/x=throw(runtime,)", 1, 1, 20,
     "an argument is empty; fill it in, or write \"\""},
    {"op/x=throw(runtime", 1, 1, 19,
     "the argument is followed by neither ',' nor ')', the text ends here; "
     "close the parenthesis, or put the text in '\"'"},
    {"op/x=throw(runtime, a->b)", 1, 1, 22,
     "the argument is followed by neither ',' nor ')', found '-'; close the "
     "parenthesis, or put the text in '\"'"},
    {"op/x=throw(runtime, \"boom)", 1, 1, 21,
     "the quotation mark is never closed; end the text with '\"' on the same "
     "line (\\n is a new line)"},
    {"op/x=print(\"\\q\")", 1, 1, 13,
     "unknown escape sequence; write one of \\\" \\\\ \\n \\t \\xHH"},
    {"op/x=print(\"\\x4\")", 1, 1, 13,
     "'\\x' needs two hexadecimal digits; write such as \\x0a"},
    {"op/x=hang(1)", 1, 1, 11,
     "in 'hang' the argument '1' is too many; leave it out"},
    {"op/x=sleep", 1, 1, 11,
     "in 'sleep' an argument is missing; write milliseconds in parentheses"},
    {"op/x=sleep(1s)", 1, 1, 12,
     "in 'sleep' '1s' is no whole number up to 86400000; write milliseconds"},
    {"op/x=sleep(-1)", 1, 1, 12,
     "in 'sleep' '-1' is no whole number up to 86400000; write milliseconds"},
    {"op/x=exit(256)", 1, 1, 11,
     "in 'exit' '256' is no whole number up to 255; write an exit code"},
    {"op/x=bitflip(64)", 1, 1, 14,
     "in 'bitflip' '64' is no whole number up to 63; write the number of a "
     "bit"},
    {"op/x=interrupt(SIGTRM)", 1, 1, 16,
     "in 'interrupt' unknown name 'SIGTRM'; did you mean 'SIGTERM'?"},
    {"op/x=interrupt(SIGHUP)", 1, 1, 16,
     "in 'interrupt' unknown name 'SIGHUP'; write SIGINT or SIGTERM"},
    {"op/x=signal(SIGUSR3)", 1, 1, 13,
     "in 'signal' unknown name 'SIGUSR3'; did you mean 'SIGUSR1'?"},
    {"io/x=errno(ENOSPACE)", 1, 1, 12,
     "in 'errno' unknown name 'ENOSPACE'; did you mean 'ENOSPC'?"},
};

INSTANTIATE_TEST_SUITE_P(Items, PlanErrorTest, ::testing::ValuesIn(kBadItems));
INSTANTIATE_TEST_SUITE_P(Terms, PlanErrorTest, ::testing::ValuesIn(kBadTerms));
INSTANTIATE_TEST_SUITE_P(Arguments, PlanErrorTest,
                         ::testing::ValuesIn(kBadArguments));

TEST(PlanErrorTextTest, BeginsWithTheSourceAndThePlace) {
  EXPECT_EQ(message_of([] { Plan::parse("op/x=off;\nop/y=of", "plan.txt"); }),
            "fault plan plan.txt, item 2, line 2, column 6: unknown action "
            "'of'; did you mean 'off'?");
}

TEST(PlanErrorTextTest, TextsThatNoLabelHoldsAreRefused) {
  const std::string text(241, 'x');
  EXPECT_EQ(
      message_of([&] { Plan::parse("op/x=throw(runtime," + text + ")"); }),
      "fault plan, item 1, column 20: in 'throw' the text is longer than "
      "240 bytes; shorten it, or register a throw type that makes its "
      "own text");
}

}  // namespace
}  // namespace mishap::faultinject
