#include <gtest/gtest.h>
#include <mishap/collector/json_writer.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace mishap::collector {
namespace {

std::string written(const std::function<void(JsonWriter&)>& write) {
  std::array<char, 4096> buffer;
  JsonWriter writer(buffer);
  write(writer);
  EXPECT_FALSE(writer.overflowed());
  return std::string(writer.view());
}

std::string text(std::string_view value) {
  return nlohmann::json::parse(
             written([&](JsonWriter& writer) { writer.text(value); }))
      .get<std::string>();
}

TEST(JsonWriter, SeparatesMembersAndItems) {
  EXPECT_EQ(written([](JsonWriter& writer) {
              writer.begin_object();
              writer.key("a");
              writer.integer(1);
              writer.key("b");
              writer.begin_array();
              writer.boolean(true);
              writer.null();
              writer.begin_object();
              writer.end_object();
              writer.end_array();
              writer.key("c");
              writer.hex(255);
              writer.end_object();
            }),
            R"({"a":1,"b":[true,null,{}],"c":"0xff"})");
}

TEST(JsonWriter, EscapesEveryControlCharacter) {
  std::string all;
  for (char character = 0; character < 0x20; ++character) all += character;
  all += "\"\\/\x7f";
  EXPECT_EQ(text(all), all);
}

TEST(JsonWriter, KeepsAnEmbeddedNul) {
  const std::string with_nul("before\0after", 12);
  EXPECT_EQ(text(with_nul), with_nul);
}

TEST(JsonWriter, KeepsCharactersOfEveryLength) {
  EXPECT_EQ(text("a\u00e9\u20ac\U0001f600"), "a\u00e9\u20ac\U0001f600");
}

TEST(JsonWriter, ReplacesInvalidUtf8AndSaysSo) {
  std::array<char, 64> buffer;
  JsonWriter writer(buffer);
  EXPECT_TRUE(writer.text("a\xff\xfe z"));
  EXPECT_EQ(writer.view(), "\"a\ufffd\ufffd z\"");
}

TEST(JsonWriter, WritesNumbersThatReadBackTheSame) {
  for (const double value :
       {0.1, 1.0 / 3, 1e300, -5e-324, 123456789.0, 3.0, -0.0}) {
    const std::string shown =
        written([&](JsonWriter& writer) { writer.number(value); });
    const auto parsed = nlohmann::json::parse(shown);
    EXPECT_TRUE(parsed.is_number_float()) << shown;
    EXPECT_EQ(parsed.get<double>(), value) << shown;
  }
}

TEST(JsonWriter, WritesNonFiniteNumbersAsNull) {
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    EXPECT_EQ(written([&](JsonWriter& writer) { writer.number(value); }),
              "null");
  }
}

TEST(JsonWriter, KeepsIntegersWithinWhatReadersHoldExactly) {
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(written([](JsonWriter& writer) { writer.integer(Limits::max()); }),
            "9007199254740991");
  EXPECT_EQ(written([](JsonWriter& writer) { writer.integer(Limits::min()); }),
            "-9007199254740991");
  EXPECT_EQ(written([](JsonWriter& writer) { writer.decimal(Limits::max()); }),
            "\"9223372036854775807\"");
}

TEST(JsonWriter, NeverWritesBeyondItsBuffer) {
  for (std::size_t size = 0; size < 40; ++size) {
    std::string buffer(size + 1, '#');
    JsonWriter writer(std::span(buffer.data(), size));
    writer.begin_object();
    writer.key("key");
    writer.text("a text \x01 of some length");
    writer.end_object();
    EXPECT_EQ(buffer.back(), '#') << size;
    EXPECT_EQ(writer.overflowed(), size < 38) << size;
  }
}

TEST(JsonWriter, WritesRawBytesInHex) {
  EXPECT_EQ(written([](JsonWriter& writer) {
              writer.hex_bytes(
                  {"\0\xff"
                   "a",
                   3});
            }),
            "\"00ff61\"");
}

}  // namespace
}  // namespace mishap::collector
