#include <gtest/gtest.h>
#include <mishap/faultinject/plan.h>

#include <random>
#include <string>

namespace mishap::faultinject {
namespace {

bool is_read(const std::string& text) {
  try {
    const Plan plan = Plan::parse(text);
    EXPECT_EQ(Plan::parse(plan.to_string()), plan);
    return true;
  } catch (const PlanError& error) {
    EXPECT_GE(error.place().column, 1u);
    EXPECT_LE(error.place().column, text.size() + 1);
    return false;
  }
}

TEST(PlanFuzzTest, RandomBytesAreReadOrRefused) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (auto size = random() % 40; size > 0; --size) {
      text += static_cast<char>(random());
    }
    is_read(text);
  }
}

TEST(PlanFuzzTest, DamagedPlansAreReadOrRefused) {
  const std::string plan =
      "seed=3;hook/*/module:after=5%2*off->1*throw(runtime,\"a\\x41\\n\")"
      "[epoch 2..5][every 3]\n# so\nio/**/w=errno(ENOSPC)->sleep(5)";
  const std::string alphabet = "=;\n#\"\\()[]->%*./:,09azx \t";
  std::mt19937 random(2);
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = plan;
    for (auto n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 5);
          break;
        default:
          text.insert(at, 1, alphabet[random() % alphabet.size()]);
      }
    }
    read += is_read(text) ? 1 : 0;
  }
  EXPECT_GT(read, 100);
  EXPECT_LT(read, 19900);
}

}  // namespace
}  // namespace mishap::faultinject
