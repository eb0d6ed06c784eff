#include <mishap/trainer/engine/loggers/jsonl_logger.h>
#include <sys/resource.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "engine_support.h"

namespace mishap::engine_test {
namespace {

using Json = nlohmann::json;

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kEndless = std::numeric_limits<double>::infinity();

class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &previous_);
    const rlimit limit{bytes, previous_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &previous_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit previous_{};
};

class JsonlLoggerTest : public testing::Test {
 protected:
  JsonlLoggerTest() { std::filesystem::remove_all(folder_); }
  ~JsonlLoggerTest() override { std::filesystem::remove_all(folder_); }

  std::string text() const {
    std::ifstream file(logger_.file());
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  // Each line, parsed; throws for one that is no JSON.
  std::vector<Json> lines() const {
    std::vector<Json> lines;
    std::istringstream stream(text());
    for (std::string line; std::getline(stream, line);) {
      lines.push_back(Json::parse(line));
    }
    return lines;
  }

  void put(const std::string& text) const {
    std::filesystem::create_directories(folder_ / "run");
    std::ofstream(logger_.file()) << text;
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("mishap_jsonl_") +
       testing::UnitTest::GetInstance()->current_test_info()->name());
  JsonlLogger logger_{folder_ / "run"};
};

Place place_at(Stage stage, std::int64_t epoch, std::int64_t batch,
               std::int64_t step) {
  Place place;
  place.stage = stage;
  place.epoch = epoch;
  place.batch = batch;
  place.step = step;
  return place;
}

TEST_F(JsonlLoggerTest, WritesOneObjectALine) {
  EXPECT_FALSE(std::filesystem::exists(folder_));
  logger_.experiment();
  logger_.log_hyperparams({{"max_epochs", "3"}, {"device", "c\"pu"}});
  logger_.log_metrics({{"b", 0.1}, {"a", 2}},
                      place_at(Stage::kTrain, 0, 9, 10));
  logger_.log_metrics({{"a", 3}}, place_at(Stage::kTest, -1, -1, -1));
  logger_.finalize(FinalWord::kInterrupted);
  EXPECT_EQ(text(),
            R"({"kind":"hyperparameters","values":{"max_epochs":"3",)"
            R"("device":"c\"pu"}})"
            "\n"
            R"({"kind":"metrics","stage":"train","epoch":0,"batch":9,)"
            R"("step":10,"values":{"a":2.0,"b":0.1}})"
            "\n"
            R"({"kind":"metrics","stage":"test","epoch":null,"batch":null,)"
            R"("step":null,"values":{"a":3.0}})"
            "\n"
            R"({"kind":"end","word":"interrupted"})"
            "\n");
}

TEST_F(JsonlLoggerTest, I2NonFiniteNumbersAreNullAndToldByWord) {
  logger_.experiment();
  logger_.log_metrics({{"fine", 1},
                       {"high", kEndless},
                       {"loss", kNoNumber},
                       {"low", -kEndless}},
                      Place());
  logger_.log_metrics({{"fine", 1}}, Place());
  logger_.save();
  ASSERT_EQ(lines().size(), 2U);
  EXPECT_EQ(lines()[0]["values"], Json::parse(R"({"fine":1.0,"high":null,
                                                  "loss":null,"low":null})"));
  EXPECT_EQ(lines()[0]["non_finite"], Json::parse(R"({"high":"Infinity",
                                      "loss":"NaN","low":"-Infinity"})"));
  EXPECT_FALSE(lines()[1].contains("non_finite"));
}

TEST_F(JsonlLoggerTest, NumbersComeBackAsTheyWere) {
  const Metrics metrics = {{"third", 1.0 / 3},
                           {"tiny", std::numeric_limits<double>::denorm_min()},
                           {"huge", std::numeric_limits<double>::max()},
                           {"minus", -0.1}};
  logger_.experiment();
  logger_.log_metrics(metrics, Place());
  logger_.save();
  EXPECT_EQ(lines().at(0)["values"].get<Metrics>(), metrics);
}

TEST_F(JsonlLoggerTest, I1ANameThatIsNoTextStaysInItsLine) {
  logger_.experiment();
  logger_.log_metrics({{"a\nb\xFF", 1}}, Place());
  logger_.save();
  EXPECT_EQ(lines().size(), 1U);
  EXPECT_TRUE(lines()[0]["values"].contains("a\nb\xEF\xBF\xBD"));
}

TEST_F(JsonlLoggerTest, WaitsInMemoryUntilItIsSaved) {
  logger_.experiment();
  logger_.log_metrics({{"a", 1}}, Place());
  EXPECT_FALSE(std::filesystem::exists(logger_.file()));
  logger_.save();
  EXPECT_EQ(lines().size(), 1U);
  logger_.save();
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(JsonlLoggerTest, AnotherLoggerGoesOnInTheSameFile) {
  logger_.experiment();
  logger_.log_metrics({{"a", 1}}, Place());
  logger_.finalize(FinalWord::kFailed);
  JsonlLogger resumed(folder_ / "run");
  resumed.experiment();
  resumed.log_metrics({{"a", 2}}, Place());
  resumed.finalize(FinalWord::kSuccess);
  ASSERT_EQ(lines().size(), 4U);
  EXPECT_EQ(lines()[0]["values"]["a"], 1.0);
  EXPECT_EQ(lines()[1]["word"], "failed");
  EXPECT_EQ(lines()[2]["values"]["a"], 2.0);
  EXPECT_EQ(lines()[3]["word"], "success");
}

TEST_F(JsonlLoggerTest, HalfALineOfAnotherProcessDoesNotSwallowTheNext) {
  logger_.experiment();
  put("{\"kind\":\"met");
  logger_.log_metrics({{"a", 1}}, Place());
  logger_.save();
  logger_.log_metrics({{"a", 2}}, Place());
  logger_.save();
  std::istringstream stream(text());
  std::string line;
  std::getline(stream, line);
  EXPECT_EQ(line, "{\"kind\":\"met");
  std::getline(stream, line);
  EXPECT_EQ(Json::parse(line)["values"]["a"], 1.0);
  std::getline(stream, line);
  EXPECT_EQ(Json::parse(line)["values"]["a"], 2.0);
  EXPECT_FALSE(std::getline(stream, line));
}

TEST_F(JsonlLoggerTest, AFileThatMayNotGrowKeepsWholeLinesAndNothingIsLost) {
  logger_.experiment();
  logger_.log_metrics({{"a", 1}}, Place());
  logger_.save();
  const std::string before = text();
  logger_.log_metrics({{"a", 2}}, Place());
  logger_.log_metrics({{"a", 3}}, Place());
  int error = 0;
  {
    const FileSizeLimit limit(before.size() + before.size() / 2);
    try {
      logger_.save();
    } catch (const std::system_error& thrown) {
      error = thrown.code().value();
    }
  }
  EXPECT_EQ(error, EFBIG);
  EXPECT_EQ(text(), before);
  logger_.log_metrics({{"a", 4}}, Place());
  logger_.save();
  ASSERT_EQ(lines().size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(lines()[i]["values"]["a"], static_cast<double>(i + 1));
  }
}

TEST_F(JsonlLoggerTest, AFullDiskLosesNothing) {
  if (!std::filesystem::exists("/dev/full")) {
    GTEST_SKIP() << "there is no /dev/full here";
  }
  logger_.experiment();
  std::filesystem::create_symlink("/dev/full", logger_.file());
  logger_.log_metrics({{"a", 1}}, Place());
  int error = 0;
  try {
    logger_.save();
  } catch (const std::system_error& thrown) {
    error = thrown.code().value();
  }
  EXPECT_EQ(error, ENOSPC);
  std::filesystem::remove(logger_.file());
  logger_.finalize(FinalWord::kSuccess);
  EXPECT_EQ(lines().size(), 2U);
}

TEST_F(JsonlLoggerTest, AFolderThatCannotBeMadeIsSaidOnce) {
  put("");
  JsonlLogger inside_a_file(logger_.file() / "folder");
  try {
    inside_a_file.experiment();
    FAIL() << "made a folder inside a file";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(logger_.file().string()));
  }
  EXPECT_NO_THROW(inside_a_file.finalize(FinalWord::kFailed));
}

TEST_F(JsonlLoggerTest, KeepsWhatAFitLogs) {
  TinyWorld world;
  TrainerOptions options = world.options();
  options.log_every_n_steps = 1;
  options.loggers.push_back(std::make_shared<JsonlLogger>(folder_ / "run"));
  Engine(options).fit(world.module, world.data);
  const std::vector<Json> all = lines();
  ASSERT_EQ(all.size(), world.logger->logged.size() + 2);
  EXPECT_EQ(all.front()["kind"], "hyperparameters");
  EXPECT_EQ(all.front()["values"]["max_epochs"], "2");
  EXPECT_EQ(all.back()["word"], "success");
  for (std::size_t i = 0; i < world.logger->logged.size(); ++i) {
    const auto& [place, metrics] = world.logger->logged[i];
    EXPECT_EQ(all[i + 1]["stage"], to_string(place.stage));
    EXPECT_EQ(all[i + 1]["values"].get<Metrics>(), metrics);
  }
}

TEST_F(JsonlLoggerTest, F5AFailedSaveFailsTheRunAsItIs) {
  TinyWorld world;
  TrainerOptions options = world.options();
  options.loggers = {std::make_shared<JsonlLogger>(folder_ / "run")};
  std::filesystem::create_directories(logger_.file());
  EXPECT_THROW(Engine(options).fit(world.module, world.data),
               std::system_error);
  EXPECT_EQ(world.module.calls.place.hook, Hook::kSave);
}

}  // namespace
}  // namespace mishap::engine_test
