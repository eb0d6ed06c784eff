#include <gmock/gmock.h>
#include <mishap/faultinject/hit.h>
#include <mishap/faultinject/throw_type.h>

#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>

#include "support.h"

namespace mishap::faultinject {
namespace {

constexpr char kThrowPoint[] = "hook/throw/module";

template <typename T>
T caught(const std::string& arguments) {
  const auto scenario =
      arm_text(std::string(kThrowPoint) + "=throw(" + arguments + ")");
  try {
    hit(intern(kThrowPoint));
  } catch (const T& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  throw std::logic_error("unreachable");
}

template <typename T>
std::string plain_message(const std::string& arguments) {
  const auto scenario =
      arm_text(std::string(kThrowPoint) + "=throw(" + arguments + ")");
  try {
    hit(intern(kThrowPoint));
  } catch (const std::exception& error) {
    EXPECT_EQ(typeid(error), typeid(T)) << arguments;
    return error.what();
  }
  return "nothing";
}

TEST(ThrowTypeTest, StandardTypesAreThePlainOnes) {
  EXPECT_EQ(plain_message<std::runtime_error>("runtime, boom"), "boom");
  EXPECT_EQ(plain_message<std::logic_error>("logic, boom"), "boom");
  EXPECT_EQ(plain_message<std::out_of_range>("out_of_range, boom"), "boom");
  EXPECT_EQ(plain_message<std::bad_alloc>("bad_alloc"), "std::bad_alloc");
  EXPECT_THAT(plain_message<std::system_error>("system, boom"),
              ::testing::StartsWith("boom: "));
  EXPECT_EQ(caught<std::system_error>("system").code(), std::errc::io_error);
}

TEST(ThrowTypeTest, WithoutATextTheyNameTypeAndPoint) {
  EXPECT_EQ(plain_message<std::runtime_error>("runtime"),
            "injected runtime error at hook/throw/module");
  EXPECT_EQ(plain_message<std::runtime_error>("runtime,\"\""), "");
}

TEST(ThrowTypeTest, WhatIsNoExceptionCanBeThrown) {
  EXPECT_EQ(caught<int>("int"), 1);
  EXPECT_EQ(caught<int>("int, -7"), -7);
  EXPECT_EQ(caught<std::string>("string, text"), "text");
  EXPECT_STREQ(caught<const char*>("cstring, literal"), "literal");
}

TEST(ThrowTypeTest, NestedCarriesItsCause) {
  const auto scenario = arm_text("hook/throw/module=throw(nested, outer)");
  try {
    hit(intern(kThrowPoint));
    FAIL();
  } catch (const std::runtime_error& outer) {
    EXPECT_STREQ(outer.what(), "outer");
    EXPECT_EQ(message_of([&] { std::rethrow_if_nested(outer); }),
              "the cause of outer");
  }
}

TEST(ThrowTypeTest, WhatMayBeNullOrNoUtf8) {
  const auto scenario =
      arm_text("hook/throw/module=1*throw(null_what)->throw(bad_utf8, x)");
  try {
    hit(intern(kThrowPoint));
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_EQ(error.what(), nullptr);
  }
  EXPECT_EQ(message_of([] { hit(intern(kThrowPoint)); }), "x \xff\xfe\x80");
}

struct Mine {
  std::string text;
};

TEST(ThrowTypeTest, UsersBringTheirOwn) {
  register_throw_type(
      "mine", [](std::string_view text) { throw Mine{std::string(text)}; });
  EXPECT_EQ(caught<Mine>("mine, custom").text, "custom");
  EXPECT_EQ(message_of([] { register_throw_type("mine", [](auto) {}); }),
            "there is a throw type 'mine' already; give yours another name");
  EXPECT_EQ(message_of([] { register_throw_type("Bad Name", [](auto) {}); }),
            "'Bad Name' is no name for a throw type: use up to 32 lower-case "
            "letters, digits and '_'");
}

TEST(ThrowTypeTest, OneThatThrowsNothingIsFoundOut) {
  register_throw_type("forgetful", [](std::string_view) {});
  EXPECT_EQ(plain_message<std::logic_error>("forgetful"),
            "the throw type 'forgetful' threw nothing; its function has to "
            "throw");
}

TEST(ThrowTypeTest, AllAreListed) {
  EXPECT_THAT(
      throw_type_names(),
      ::testing::IsSupersetOf({"runtime", "logic", "out_of_range", "system",
                               "bad_alloc", "int", "cstring", "string",
                               "nested", "null_what", "bad_utf8"}));
}

}  // namespace
}  // namespace mishap::faultinject
