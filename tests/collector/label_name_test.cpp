#include <gtest/gtest.h>
#include <mishap/collector/demangle.h>
#include <mishap/collector/label/plain_name.h>

#include <functional>
#include <string>
#include <typeinfo>
#include <vector>

namespace mishap::collector {
namespace {

std::string plain(std::string_view name) {
  PlainName out;
  plain_name(name, out);
  return std::string(out.view());
}

std::string plain_of_type(std::string_view name) {
  PlainName out;
  plain_type(name, out);
  return std::string(out.view());
}

std::string message(std::string_view text) {
  PlainMessage out;
  plain_message(text, out);
  return std::string(out.view());
}

struct Row {
  std::string_view readable;
  std::string_view plain;
};

TEST(PlainName, DropsWhatChangesFromBuildToBuild) {
  for (const auto& [readable, expected] : std::vector<Row>{
           {"main", "main"},
           {"app::load(std::string const&)", "app::load"},
           {"app::Net::forward(int) const &", "app::Net::forward"},
           {"void app::apply<int, std::vector<int> >(int)", "app::apply"},
           {"std::map<int, app::A<(3 > 2)> >::at(int const&)", "std::map::at"},
           {"std::vector<int> app::make<std::function<int (char)> >()",
            "app::make"},
           {"app::f(int) [clone .isra.0]", "app::f"},
           {"app::f(int) [clone .constprop.1] [clone .cold]", "app::f"},
           {"helper.part.0", "helper"},
           {"helper.cold", "helper"},
           {"app::name[abi:cxx11]()", "app::name"},
           {"app::name[abi:cxx11](int)::{lambda()#2}::operator()() const",
            "{lambda}"},
           {"app::(anonymous namespace)::f(int)", "f"},
           {"app::(anonymous namespace)::Net::f(int)", "Net::f"},
           {"main::{lambda(mishap::Run&)#1}::operator()(mishap::Run&) const",
            "{lambda}"},
           {"run()::{lambda(auto:1)#3}::operator()<int>(int) const::"
            "{lambda()#1}::operator()() const",
            "{lambda}"},
           {"run()::'lambda0'(int)::operator()(int) const", "{lambda}"},
           {"operator()", "{lambda}"},
           {"main::{lambda()#1}::operator()() const::Local::f(int)",
            "main::{lambda}::operator()::Local::f"},
           {"app::{unnamed type#4}::f()", "app::{unnamed type}::f"},
           {"app::operator<<(std::ostream&, app::A const&)", "app::operator<<"},
           {"bool app::operator< <int>(app::A<int>)", "app::operator<"},
           {"app::A::operator->() const", "app::A::operator->"},
           {"app::A::operator()(int)", "app::A::operator()"},
           {"app::A::operator[](unsigned long)", "app::A::operator[]"},
           {"app::A::operator std::vector<int>() const",
            "app::A::operator std::vector"},
           {"operator new(unsigned long)", "operator new"},
           {"operator\"\" _ms(unsigned long long)", "operator\"\" _ms"},
           {"app::operators(int)", "app::operators"},
           {"non-virtual thunk to app::B::f()", "app::B::f"},
           {"decltype(auto) app::g<int>(int&&)", "app::g"},
           {"int (*app::pick(int))(double)", "app::pick"},
           {"unsigned char* app::bytes(int)", "app::bytes"},
           {"", ""},
       }) {
    EXPECT_EQ(plain(readable), expected) << readable;
  }
}

TEST(PlainName, KeepsTheWordsOfAType) {
  EXPECT_EQ(plain_of_type("char const*"), "char const*");
  EXPECT_EQ(plain_of_type("app::Error<int>"), "app::Error");
  EXPECT_EQ(plain_of_type("app::(anonymous namespace)::Error"), "Error");
  EXPECT_EQ(plain_of_type(demangle(typeid(std::function<int(char)>).name())),
            "std::function");
}

// A name comes from whatever file was mapped: it may be anything.
TEST(PlainName, EndsForEveryText) {
  const std::string_view hostile = "a<(b>{c[d)e]f}g operator'lambda::~ .x\"";
  for (std::size_t seed = 1; seed < 20'000; ++seed) {
    std::string text;
    for (std::size_t left = seed * 2654435761U; left > 0; left /= 37) {
      text += hostile[left % hostile.size()];
    }
    EXPECT_LE(plain(text).size(), kPlainNameBytes);
    EXPECT_LE(message(text).size(), kPlainMessageBytes);
  }
  EXPECT_LE(plain(std::string(100'000, '<')).size(), kPlainNameBytes);
  EXPECT_EQ(plain(std::string(100'000, 'x')).size(), kPlainNameBytes);
}

TEST(PlainMessage, ReplacesNumbersHexAndPaths) {
  for (const auto& [text, expected] : std::vector<Row>{
           {"index 12 is out of range", "index <n> is out of range"},
           {"loss 0.125 at 1e5", "loss <n> at <n>e<n>"},
           {"worker3 read 12MB", "worker<n> read <n>MB"},
           {"at 0x7f12ab in deadbeef99", "at <hex> in <hex>"},
           {"open of /tmp/a-1/b.pt failed", "open of <path> failed"},
           {"open of ./data/x.bin failed", "open of <path> failed"},
           {"no file data/x.bin", "no file <path>"},
           {"and/or", "and/or"},
           {"two\nlines", "two"},
           {"", ""},
       }) {
    EXPECT_EQ(message(text), expected) << text;
  }
}

}  // namespace
}  // namespace mishap::collector
