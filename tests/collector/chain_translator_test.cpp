#include <gtest/gtest.h>
#include <mishap/collector/exception_chain.h>
#include <mishap/collector/exception_translator.h>

#include <memory>
#include <stdexcept>

#include "throw_helpers.h"

namespace sample {

struct DatabaseError {
  virtual ~DatabaseError() = default;
  const char* text = "no such table";
  int number = 13;
  std::exception_ptr reason;
};
struct TimeoutError : DatabaseError {};

struct Untranslatable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace sample

namespace mishap::collector {
namespace {

using sample::caught;

void translate_database_error(const sample::DatabaseError& error,
                              Translation& out) {
  out.message = error.text;
  out.code = error.number;
  out.native_backtrace = "frame 0";
  out.cause = error.reason;
}

class TranslatorTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(register_translator(translate_database_error));
  }
  std::span<const ChainEntry> describe(const std::exception_ptr& error) {
    chain_->describe(error);
    return chain_->entries();
  }

 private:
  std::unique_ptr<ExceptionChain> chain_ = std::make_unique<ExceptionChain>();
};

TEST_F(TranslatorTest, ReadsAForeignTypeAndKeepsItsName) {
  const auto entries = describe(caught([] { throw sample::TimeoutError(); }));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].type, "sample::TimeoutError");
  EXPECT_EQ(entries[0].message, "no such table");
  EXPECT_EQ(entries[0].code, 13);
  EXPECT_EQ(entries[0].native_backtrace, "frame 0");
}

TEST_F(TranslatorTest, NamesTheCause) {
  const auto entries = describe(caught([] {
    sample::DatabaseError error;
    error.reason = caught([] { throw std::runtime_error("disk"); });
    throw error;
  }));
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[1].message, "disk");
}

TEST_F(TranslatorTest, IsPassedOverWhenItThrows) {
  register_translator<sample::Untranslatable>(
      [](const sample::Untranslatable&, Translation& out) {
        out.message = "half done";
        throw std::bad_alloc();
      });
  const auto entries =
      describe(caught([] { throw sample::Untranslatable("plain"); }));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].message, "plain");
}

TEST_F(TranslatorTest, CanBeRegisteredOverAndOver) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(register_translator(translate_database_error));
  }
}

}  // namespace
}  // namespace mishap::collector
