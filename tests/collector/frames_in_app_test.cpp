#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mishap/collector/resolve/in_app.h>

#include <string_view>

namespace mishap::collector {
namespace {

int own_data = 0;

Frame frame_in(const void* address, std::string_view symbol) {
  Frame frame;
  frame.module = find_module(reinterpret_cast<std::uintptr_t>(address));
  frame.symbol = symbol;
  return frame;
}

bool own(std::string_view symbol) {
  return is_in_app(frame_in(&own_data, symbol));
}

TEST(InApp, IsTheProgramsOwnCode) {
  EXPECT_TRUE(own("main"));
  EXPECT_TRUE(own("_ZN3app4stepEi"));
  EXPECT_TRUE(own("_ZN12_GLOBAL__N_14stepEv"));
  EXPECT_TRUE(own("_ZL4stepv"));
  EXPECT_TRUE(own("c_function"));
  EXPECT_TRUE(own(""));
}

TEST(InApp, IsNotTheStandardLibraryCompiledIntoTheProgram) {
  EXPECT_FALSE(own("_ZNSt6vectorIiSaIiEE2atEm"));
  EXPECT_FALSE(own("_ZNKSt6vectorIiSaIiEE2atEm"));
  EXPECT_FALSE(own("_ZSt4moveIiEvT_"));
  EXPECT_FALSE(own("_ZNSsC1Ev"));
  EXPECT_FALSE(own("_ZN9__gnu_cxx13new_allocatorIiE8allocateEm"));
}

TEST(InApp, IsNotLibTorchCompiledIntoTheProgram) {
  EXPECT_FALSE(own("_ZN2at6TensorC1Ev"));
  EXPECT_FALSE(own("_ZNK5torch2nn6Module4nameEv"));
  EXPECT_FALSE(own("_ZN3c105ErrorD0Ev"));
}

TEST(InApp, IsNotMishapButItsTasks) {
  EXPECT_FALSE(own("_ZN6mishap3RunE"));
  EXPECT_FALSE(own("_ZN6mishap6engine3runEv"));
  EXPECT_TRUE(own("_ZN6mishap5tasks6digits4stepEv"));
  EXPECT_TRUE(own("_ZN6mishap5tasks12_GLOBAL__N_15Digits7forwardEv"));
}

TEST(InApp, JudgesALambdaByTheFunctionThatHoldsIt) {
  EXPECT_TRUE(own("_ZZ4mainENKUlRN6mishap3RunEE_clES1_"));
  EXPECT_TRUE(own("_ZZN3app5trainEvENKUlvE_clEv"));
  EXPECT_FALSE(own("_ZZN6mishap5guardEvENKUlvE_clEv"));
  EXPECT_TRUE(own("_ZZN6mishap5tasks5trainEvENKUlvE_clEv"));
}

TEST(InApp, JudgesAThunkByTheFunctionItEnters) {
  EXPECT_TRUE(own("_ZThn16_N3app3Net7forwardEv"));
  EXPECT_FALSE(own("_ZTv0_n24_NSt13basic_ostreamIcED1Ev"));
}

TEST(InApp, IsNotASystemLibraryWhateverTheName) {
  const void* libc = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
  EXPECT_FALSE(is_in_app(frame_in(libc, "main")));
}

TEST(InApp, IsNotAnInlinedFunctionOfASystemHeader) {
  Frame frame = frame_in(&own_data, "at");
  frame.file = "/usr/include/c++/12/bits/stl_vector.h";
  EXPECT_FALSE(is_in_app(frame));
}

TEST(InApp, IsNotTheStartUpCode) { EXPECT_FALSE(own("_start")); }

TEST(InApp, SurvivesNamesThatEndEarly) {
  for (const std::string_view symbol :
       {"_Z", "_ZN", "_ZN99", "_ZTh", "_ZNS", "_ZN12_GLOBAL__N_1", "_ZN0"}) {
    EXPECT_TRUE(own(symbol)) << symbol;
  }
}

bool throws_for_others(std::string_view symbol) {
  return only_throws(frame_in(&own_data, symbol));
}

TEST(OnlyThrows, KnowsTheHelpersThatThrowForOthers) {
  EXPECT_TRUE(throws_for_others("__cxa_throw"));
  EXPECT_TRUE(throws_for_others("__interceptor___cxa_throw"));
  EXPECT_TRUE(throws_for_others("_ZSt24__throw_out_of_range_fmtPKcz"));
  EXPECT_TRUE(throws_for_others("_ZN3c106detail14torchCheckFailEPKcS2_jS2_"));
  EXPECT_TRUE(
      throws_for_others("_ZN3c106detail23torchInternalAssertFailEPKcS2_jS2_"));
}

TEST(OnlyThrows, IsNotSaidOfOrdinaryFunctions) {
  EXPECT_FALSE(throws_for_others("_ZN3app11throw_errorEv"));
  EXPECT_FALSE(throws_for_others("_ZNSt6vectorIiSaIiEE2atEm"));
  EXPECT_FALSE(throws_for_others(""));
}

}  // namespace
}  // namespace mishap::collector
