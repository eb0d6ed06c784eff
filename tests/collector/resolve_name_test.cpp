#include <gtest/gtest.h>
#include <mishap/collector/demangle.h>

#include <stdexcept>
#include <vector>

namespace sample {
template <typename T>
struct Net {};
namespace {
struct Hidden {};
}  // namespace
}  // namespace sample

namespace mishap::collector {
namespace {

TEST(Demangle, GivesReadableNames) {
  EXPECT_EQ(demangle("_ZN3app4stepEi"), "app::step(int)");
  EXPECT_EQ(type_name(typeid(std::runtime_error)), "std::runtime_error");
}

TEST(Demangle, LeavesOtherTextAlone) {
  EXPECT_EQ(demangle("main"), "main");
  EXPECT_EQ(demangle(""), "");
  EXPECT_EQ(demangle("_Znonsense"), "_Znonsense");
}

TEST(ShortTypeName, DropsNamespacesAndTemplateArguments) {
  EXPECT_EQ(short_type_name(type_name(typeid(sample::Net<std::vector<int>>))),
            "Net");
  EXPECT_EQ(short_type_name("a::b<c::d<int> >::E"), "E");
  EXPECT_EQ(short_type_name("int"), "int");
  EXPECT_EQ(short_type_name(""), "");
}

TEST(ShortTypeName, DropsAnonymousNamespacesAndEnclosingFunctions) {
  struct Local {};
  EXPECT_EQ(short_type_name(type_name(typeid(sample::Hidden))), "Hidden");
  EXPECT_EQ(short_type_name(type_name(typeid(Local))), "Local");
}

TEST(ShortTypeName, SurvivesUnbalancedBrackets) {
  EXPECT_EQ(short_type_name("a::b>>"), "a::b>>");
  EXPECT_EQ(short_type_name(">"), ">");
}

}  // namespace
}  // namespace mishap::collector
