#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/collector/exception_chain.h>
#include <sys/resource.h>

#include <cerrno>
#include <future>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "throw_helpers.h"

namespace sample {

struct PrivateBase : private std::exception {};
struct Left : std::exception {};
struct Right : std::exception {};
struct AmbiguousBase : Left, Right {};

struct NullWhat : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

struct SecondBase {
  virtual ~SecondBase() = default;
  int padding = 0;
};
struct ExceptionAsSecondBase : SecondBase, std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Loop : std::runtime_error, std::nested_exception {
  using std::runtime_error::runtime_error;
};

template <typename Inner, typename Outer>
void nest(Inner inner, Outer outer) {
  try {
    inner();
  } catch (...) {
    std::throw_with_nested(outer);
  }
}

}  // namespace sample

namespace mishap::collector {
namespace {

using sample::caught;
using testing::ElementsAre;

class ExceptionChainTest : public testing::Test {
 protected:
  const ExceptionChain& chain_of(const std::exception_ptr& error) {
    chain_->describe(error);
    return *chain_;
  }
  const ChainEntry& only_entry_of(const std::exception_ptr& error) {
    const auto entries = chain_of(error).entries();
    EXPECT_EQ(entries.size(), 1U);
    return entries[0];
  }
  std::vector<std::string> types_of(const std::exception_ptr& error) {
    std::vector<std::string> types;
    for (const ChainEntry& entry : chain_of(error).entries()) {
      types.emplace_back(entry.type);
    }
    return types;
  }

 private:
  std::unique_ptr<ExceptionChain> chain_ = std::make_unique<ExceptionChain>();
};

TEST_F(ExceptionChainTest, IsEmptyForANullPointer) {
  EXPECT_TRUE(chain_of(nullptr).entries().empty());
}

TEST_F(ExceptionChainTest, HasTypeAndMessageOfAStandardException) {
  const auto& entry =
      only_entry_of(caught([] { throw std::out_of_range("r"); }));
  EXPECT_EQ(entry.type, "std::out_of_range");
  EXPECT_EQ(entry.message, "r");
  EXPECT_TRUE(entry.has_message);
  EXPECT_FALSE(entry.what_was_null);
  EXPECT_EQ(entry.code, std::nullopt);
}

TEST_F(ExceptionChainTest, NamesTypesThatHaveNoMessage) {
  const auto& entry = only_entry_of(caught([] { throw 42; }));
  EXPECT_EQ(entry.type, "int");
  EXPECT_EQ(entry.message, "<no message>");
  EXPECT_FALSE(entry.has_message);
}

TEST_F(ExceptionChainTest, TakesThrownTextAsTheMessage) {
  const auto& literal = only_entry_of(caught([] { throw "text"; }));
  EXPECT_EQ(literal.type, "char const*");
  EXPECT_EQ(literal.message, "text");
  const auto& string =
      only_entry_of(caught([] { throw std::string("a\0b", 3); }));
  EXPECT_EQ(string.message, std::string_view("a\0b", 3));
}

TEST_F(ExceptionChainTest, SurvivesANullTextPointer) {
  const auto& entry =
      only_entry_of(caught([] { throw static_cast<const char*>(nullptr); }));
  EXPECT_EQ(entry.message, "");
}

TEST_F(ExceptionChainTest, KnowsTheTypeWhereNoHandlerForTheBaseWouldMatch) {
  const auto& hidden =
      only_entry_of(caught([] { throw sample::PrivateBase(); }));
  EXPECT_EQ(hidden.type, "sample::PrivateBase");
  EXPECT_FALSE(hidden.has_message);
  const auto& ambiguous =
      only_entry_of(caught([] { throw sample::AmbiguousBase(); }));
  EXPECT_EQ(ambiguous.type, "sample::AmbiguousBase");
  EXPECT_FALSE(ambiguous.has_message);
}

TEST_F(ExceptionChainTest, ReadsABaseThatIsNotAtTheStartOfTheObject) {
  const auto& entry =
      only_entry_of(caught([] { throw sample::ExceptionAsSecondBase("b"); }));
  EXPECT_EQ(entry.message, "b");
  EXPECT_TRUE(entry.has_message);
}

TEST_F(ExceptionChainTest, SaysThatWhatWasNull) {
  const auto& entry = only_entry_of(caught([] { throw sample::NullWhat(); }));
  EXPECT_TRUE(entry.what_was_null);
  EXPECT_EQ(entry.message, "");
}

TEST_F(ExceptionChainTest, ListsNestedExceptionsOutermostFirst) {
  const std::exception_ptr error = caught([] {
    sample::nest(
        [] { sample::nest([] { throw 7; }, std::invalid_argument("inner")); },
        std::runtime_error("outer"));
  });
  EXPECT_THAT(types_of(error), ElementsAre("std::runtime_error",
                                           "std::invalid_argument", "int"));
  EXPECT_FALSE(chain_of(error).truncated());
}

TEST_F(ExceptionChainTest, EndsAtANullNestedPointer) {
  const std::exception_ptr error =
      caught([] { std::throw_with_nested(std::runtime_error("alone")); });
  EXPECT_THAT(types_of(error), ElementsAre("std::runtime_error"));
  EXPECT_FALSE(chain_of(error).truncated());
}

TEST_F(ExceptionChainTest, StopsAtTheDepthLimitAndSaysSo) {
  std::exception_ptr error = caught([] { throw 0; });
  for (std::size_t i = 0; i < ExceptionChain::kMaxDepth; ++i) {
    error = caught([&] {
      sample::nest([&] { std::rethrow_exception(error); },
                   std::runtime_error("layer"));
    });
  }
  EXPECT_EQ(chain_of(error).entries().size(), ExceptionChain::kMaxDepth);
  EXPECT_TRUE(chain_of(error).truncated());
}

TEST_F(ExceptionChainTest, EndsWhenAnExceptionIsItsOwnCause) {
  const std::exception_ptr error = caught([] { throw sample::Loop("loop"); });
  auto& loop = [&]() -> sample::Loop& {
    try {
      std::rethrow_exception(error);
    } catch (sample::Loop& caught_loop) {
      static_cast<std::nested_exception&>(caught_loop) =
          std::nested_exception();
      return caught_loop;
    }
  }();
  EXPECT_EQ(chain_of(error).entries().size(), 1U);
  EXPECT_TRUE(chain_of(error).truncated());
  static_cast<std::nested_exception&>(loop) = std::nested_exception();
}

TEST_F(ExceptionChainTest, GivesEachEntryItsOwnThrowSite) {
  const ThrowCaptureScope scope;
  const std::exception_ptr error = caught([] {
    sample::nest([] { throw std::logic_error("inner"); },
                 std::runtime_error("outer"));
  });
  const auto entries = chain_of(error).entries();
  ASSERT_EQ(entries.size(), 2U);
  ASSERT_TRUE(entries[0].site && entries[1].site);
  EXPECT_LE(entries[1].site->steady_nanos, entries[0].site->steady_nanos);
  EXPECT_EQ(*entries[1].site->type, typeid(std::logic_error));
}

TEST_F(ExceptionChainTest, HasNoThrowSiteForAMadeException) {
  const ThrowCaptureScope scope;
  const auto& entry =
      only_entry_of(std::make_exception_ptr(std::runtime_error("made")));
  EXPECT_FALSE(entry.site.has_value());
}

TEST_F(ExceptionChainTest, GivesErrnoOfASystemErrorOnly) {
  const auto& entry = only_entry_of(caught([] {
    throw std::system_error(ENOSPC, std::generic_category(), "write");
  }));
  EXPECT_EQ(entry.code, ENOSPC);
  const auto& future = only_entry_of(caught(
      [] { throw std::system_error(make_error_code(std::future_errc(1))); }));
  EXPECT_EQ(future.code, std::nullopt);
}

TEST_F(ExceptionChainTest, KeepsInvalidUtf8AsItIs) {
  const auto& entry =
      only_entry_of(caught([] { throw std::runtime_error("a\xFF\xC3"); }));
  EXPECT_EQ(entry.message, "a\xFF\xC3");
}

TEST_F(ExceptionChainTest, CutsAHugeMessageAndKeepsItsLengthAndHash) {
  const auto size = std::size_t{5'000'000};
  const auto error_with = [size](char last) {
    return caught([=] {
      std::string text(size, 'x');
      text.back() = last;
      throw std::runtime_error(text);
    });
  };
  const auto& entry = only_entry_of(error_with('y'));
  EXPECT_EQ(entry.message.size(), ExceptionChain::kMaxMessageBytes);
  EXPECT_EQ(entry.message_size, size);
  const auto hash = entry.message_hash;
  EXPECT_NE(hash, 0U);
  EXPECT_NE(only_entry_of(error_with('z')).message_hash, hash);
}

TEST_F(ExceptionChainTest, NeverCutsThroughAUtf8Character) {
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string text(ExceptionChain::kMaxMessageBytes - shift, 'x');
    text += "\xF0\x9F\x98\x80 and more";
    const auto& entry =
        only_entry_of(caught([&] { throw std::runtime_error(text); }));
    EXPECT_EQ(entry.message.size(), ExceptionChain::kMaxMessageBytes - shift);
  }
}

TEST_F(ExceptionChainTest, KeepsAFullDepthOfFullMessages) {
  const std::string text(ExceptionChain::kMaxMessageBytes, 'm');
  std::exception_ptr error = caught([&] { throw std::runtime_error(text); });
  for (std::size_t i = 1; i < ExceptionChain::kMaxDepth; ++i) {
    error = caught([&] {
      sample::nest([&] { std::rethrow_exception(error); },
                   std::runtime_error(text));
    });
  }
  for (const ChainEntry& entry : chain_of(error).entries()) {
    EXPECT_EQ(entry.message.size(), text.size());
  }
  EXPECT_FALSE(chain_of(error).truncated());
}

TEST_F(ExceptionChainTest, KeepsNoReferenceToTheException) {
  const auto resource = std::make_shared<int>(1);
  struct Holds : std::runtime_error {
    explicit Holds(std::shared_ptr<int> held_resource)
        : std::runtime_error("holds"), held(std::move(held_resource)) {}
    std::shared_ptr<int> held;
  };
  only_entry_of(caught([&] { throw Holds(resource); }));
  EXPECT_EQ(resource.use_count(), 1);
}

TEST_F(ExceptionChainTest, CanBeDescribedAnew) {
  chain_of(caught([] { throw std::runtime_error("first"); }));
  const auto& entry =
      only_entry_of(caught([] { throw std::logic_error("2"); }));
  EXPECT_EQ(entry.type, "std::logic_error");
  EXPECT_EQ(entry.message, "2");
}

}  // namespace
}  // namespace mishap::collector
