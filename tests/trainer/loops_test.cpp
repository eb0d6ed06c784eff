#include "engine_support.h"

namespace mishap::engine_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// Counts the batches of each kind and the validations.
struct Batches : Callback {
  void on_train_batch_end(Session&, const torch::Tensor&, const Batch&,
                          std::int64_t) override {
    ++train;
  }
  void on_validation_batch_end(Session&, const Batch&, std::int64_t) override {
    ++val;
  }
  void on_validation_start(Session&) override {
    validated_after.push_back(train);
  }
  int train = 0;
  int val = 0;
  std::vector<int> validated_after;
};

struct LoopsTest : ::testing::Test {
  LoopsTest() {
    data.options.batch_size = 1;
    options.max_epochs = 2;
    options.num_sanity_val_steps = 0;
    options.seed = 7;
    options.callbacks = {batches};
  }
  void fit() { Engine(options).fit(world.module, data); }
  std::string refusal() {
    const auto error = caught([&] { fit(); });
    EXPECT_NE(error, nullptr);
    return error == nullptr ? "" : message_of(error);
  }

  std::shared_ptr<Batches> batches = std::make_shared<Batches>();
  TinyWorld world;
  TinyData data;
  TrainerOptions options;
};

TEST_F(LoopsTest, LimitsAreNumbersOrShares) {
  options.limit_train_batches = 0.75;
  options.limit_val_batches = 1;
  fit();
  EXPECT_EQ(batches->train, 6);
  EXPECT_EQ(batches->val, 2);
}

TEST_F(LoopsTest, OneIsABatchAndOnePointZeroIsAll) {
  options.limit_train_batches = 1.0;
  options.limit_val_batches = 1;
  fit();
  EXPECT_EQ(batches->train, 8);
  EXPECT_EQ(batches->val, 2);
}

// Lightning's T47 and the table of its options: bad limits.
TEST_F(LoopsTest, BadLimitsAreRefusedInWords) {
  options.limit_train_batches = 1.5;
  EXPECT_THAT(refusal(), HasSubstr("limit_train_batches is 1.5"));
  options.limit_train_batches = 0.2;
  EXPECT_THAT(refusal(), HasSubstr("less than one"));
  options.limit_train_batches.reset();
  options.limit_val_batches = -1;
  EXPECT_THAT(refusal(), HasSubstr("limit_val_batches is -1"));
  options.limit_val_batches.reset();
  options.val_check_interval = 5;
  EXPECT_THAT(refusal(), HasSubstr("an epoch has 4 batches"));
  options.val_check_interval = 0;
  EXPECT_THAT(refusal(), HasSubstr("val_check_interval is 0"));
}

TEST_F(LoopsTest, ValidatesInsideAnEpoch) {
  options.val_check_interval = 0.5;
  fit();
  EXPECT_THAT(batches->validated_after, ElementsAre(2, 4, 6, 8));
  *batches = Batches();
  options.val_check_interval = 3;
  fit();
  EXPECT_THAT(batches->validated_after, ElementsAre(3, 7));
}

TEST_F(LoopsTest, QuickLookRunsAFewBatchesOfEverything) {
  options.fast_dev_run = 2;
  options.max_epochs = 50;
  options.loggers = {world.logger};
  fit();
  EXPECT_EQ(batches->train, 2);
  EXPECT_EQ(batches->val, 2);
  EXPECT_EQ(world.logger->experiments, 0);
}

TEST_F(LoopsTest, TimeEndsAFitAsASuccess) {
  options.max_epochs = 1'000'000;
  options.max_time = std::chrono::milliseconds(30);
  options.loggers = {world.logger};
  fit();
  EXPECT_GT(batches->train, 0);
  EXPECT_THAT(world.logger->words, ElementsAre(FinalWord::kSuccess));
}

TEST_F(LoopsTest, SeveralLoadersAreEvaluatedOneAfterTheOther) {
  struct Two : TinyData {
    std::vector<LoaderPtr> val_dataloaders() override {
      std::vector<LoaderPtr> loaders;
      loaders.push_back(load());
      LoaderOptions larger = options;
      larger.batch_size = 4;
      loaders.push_back(std::make_unique<TensorLoader>(images, labels, larger));
      return loaders;
    }
  };
  struct Asks : TinyModule {
    void validation_step(const Batch& batch, std::int64_t index) override {
      seen.emplace_back(session().dataloader_index(), index);
      log("size", static_cast<double>(batch.size()));
    }
    std::vector<std::pair<std::size_t, std::int64_t>> seen;
  };
  Two two;
  two.options.batch_size = 2;
  Asks module;
  const Metrics metrics = Engine(options).validate(module, two);
  EXPECT_THAT(module.seen, ElementsAre(Pair(0, 0), Pair(0, 1), Pair(1, 0)));
  EXPECT_THAT(metrics,
              UnorderedElementsAre(Pair("size/dataloader_idx_0", 2.0),
                                   Pair("size/dataloader_idx_1", 4.0)));
}

TEST_F(LoopsTest, EmptyOneOfSeveralLoadersIsNoSuccess) {
  struct OneEmpty : TinyData {
    std::vector<LoaderPtr> val_dataloaders() override {
      std::vector<LoaderPtr> loaders;
      loaders.push_back(load());
      loaders.push_back(std::make_unique<TensorLoader>(
          torch::empty({0, 3}), torch::Tensor(), options));
      return loaders;
    }
  };
  OneEmpty data_with_hole;
  const auto error =
      caught([&] { Engine(options).validate(world.module, data_with_hole); });
  ASSERT_NE(error, nullptr);
  EXPECT_THROW(std::rethrow_exception(error), NothingRan);
}

TEST_F(LoopsTest, LoggedValuesAreReducedAsAsked) {
  struct Logs : TinyModule {
    void validation_step(const Batch&, std::int64_t index) override {
      const double value = static_cast<double>(index);
      log("mean", value);
      log("sum", value, {.reduce = Reduce::kSum});
      log("least", value, {.reduce = Reduce::kMin});
      log("most", torch::tensor(value), {.reduce = Reduce::kMax});
      log("last", 10 - value, {.reduce = Reduce::kLast});
      log("step_only", value, {.on_epoch = false});
    }
  };
  Logs module;
  EXPECT_THAT(Engine(options).validate(module, data),
              UnorderedElementsAre(Pair("mean", 1.5), Pair("sum", 6.0),
                                   Pair("least", 0.0), Pair("most", 3.0),
                                   Pair("last", 7.0)));
}

TEST_F(LoopsTest, LoggingWhereItWouldBeLostIsRefused) {
  struct LogsLate : TinyModule {
    void on_validation_end() override { log("late", 1.0); }
  };
  LogsLate module;
  const auto error = caught([&] { Engine(options).validate(module, data); });
  ASSERT_NE(error, nullptr);
  EXPECT_THAT(message_of(error), HasSubstr("on_validation_end"));
}

// -- the rule for loggers: F5 and Lightning's H12 ---------------------------

// Throws at one of its calls.
class FailingLogger : public Logger {
 public:
  explicit FailingLogger(int call) : call_(call) {}
  void experiment() override { count(); }
  void log_hyperparams(const Hyperparameters&) override { count(); }
  void log_metrics(const Metrics&, const Place&) override { count(); }
  void save() override { count(); }
  void finalize(FinalWord) override {
    ++finalized;
    count();
  }
  int calls = 0;
  int finalized = 0;

 private:
  void count() {
    if (calls++ == call_) {
      throw std::runtime_error("the server is gone");
    }
  }
  int call_;
};

TEST_F(LoopsTest, LoggerThatFailsAtAnyCallFollowsOneRule) {
  const auto sound = std::make_shared<FailingLogger>(-1);
  options.loggers = {sound};
  fit();
  for (int call = 0; call < sound->calls; ++call) {
    const auto logger = std::make_shared<FailingLogger>(call);
    const auto other = std::make_shared<SpyLogger>();
    options.loggers = {logger, other};
    options.on_logger_error = OnLoggerError::kThrow;
    EXPECT_THAT(refusal(), HasSubstr("the server is gone")) << call;
    EXPECT_EQ(logger->finalized, 1) << call;

    const auto again = std::make_shared<FailingLogger>(call);
    options.loggers = {again, other};
    other->words.clear();
    options.on_logger_error = OnLoggerError::kWarn;
    *batches = Batches();
    EXPECT_NO_THROW(fit()) << call;
    EXPECT_EQ(batches->train, 8) << call;
    EXPECT_EQ(again->finalized, 1) << call;
    EXPECT_THAT(other->words, ElementsAre(FinalWord::kSuccess)) << call;
  }
}

}  // namespace
}  // namespace mishap::engine_test
