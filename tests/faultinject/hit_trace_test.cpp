#include <gmock/gmock.h>
#include <mishap/faultinject/active.h>
#include <mishap/faultinject/hit_trace.h>

#include <thread>

#include "support.h"

namespace mishap::faultinject {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(HitTraceTest, WritesDownWhatIsHitInOrder) {
  const PointId a = intern("hook/trace/a");
  const PointId b = intern("hook/trace/b");
  HitTrace trace;
  EXPECT_TRUE(active());
  hit(a);
  hit(b);
  hit(a);
  trace.stop();
  EXPECT_FALSE(active());
  hit(b);
  EXPECT_THAT(trace.sequence(), ElementsAre(a, b, a));
}

TEST(HitTraceTest, TracingArmsNothing) {
  const HitTrace trace;
  EXPECT_EQ(status(), Status::kDormant);
  EXPECT_EQ(armed_count(), 0u);
}

TEST(HitTraceTest, SaysWhenItWasTooSmall) {
  const HitTrace trace(Scope::process(), 3);
  hits("hook/trace/a", 3);
  EXPECT_FALSE(trace.overflowed());
  hits("hook/trace/a", 2);
  EXPECT_TRUE(trace.overflowed());
  EXPECT_EQ(trace.hits(), 5u);
  EXPECT_THAT(trace.sequence(), SizeIs(3));
}

TEST(HitTraceTest, SeesItsScopeOnly) {
  const int mine = 0;
  const int other = 0;
  const HitTrace owner(Scope::owner(&mine));
  const HitTrace thread(Scope::thread());
  HitContext context;
  context.owner = &mine;
  hits("hook/trace/a", 1, context);
  context.owner = &other;
  hits("hook/trace/b", 1, context);
  std::thread([] { hits("hook/trace/c", 1); }).join();
  EXPECT_THAT(owner.sequence(), ElementsAre(intern("hook/trace/a")));
  EXPECT_THAT(thread.sequence(), SizeIs(2));
}

TEST(HitTraceTest, AFaultsHitIsTracedToo) {
  const HitTrace trace;
  const auto scenario = arm_text("hook/trace/a=throw(int)");
  EXPECT_EQ(hits("hook/trace/a", 2), "XX");
  EXPECT_EQ(trace.hits(), 2u);
}

TEST(HitTraceTest, ItsHashKnowsNamesAndOrder) {
  const PointId a = intern("hook/trace/a");
  const PointId b = intern("hook/trace/b");
  EXPECT_NE(sequence_hash({a, b}), sequence_hash({b, a}));
  EXPECT_NE(sequence_hash({a}), sequence_hash({a, a}));
  const HitTrace trace;
  hit(a);
  hit(b);
  EXPECT_EQ(trace.hash(), sequence_hash({a, b}));
  EXPECT_EQ(name_hash(a), 0x9c9ef1cfb1b80498U);
}

}  // namespace
}  // namespace mishap::faultinject
