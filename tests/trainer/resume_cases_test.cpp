#include <mishap/trainer/engine/callbacks/early_stopping.h>
#include <mishap/trainer/engine/callbacks/model_checkpoint.h>
#include <mishap/trainer/engine/checkpoint.h>
#include <signal.h>

#include <filesystem>

#include "../temp_folder.h"
#include "checkpoint_support.h"

namespace mishap::engine_test {
namespace {

using ::testing::HasSubstr;

/// Cuts that meet something else: a window, a limit, a stop, a loader of one's
/// own.
class ResumeCases : public ::testing::Test {
 protected:
  TrainerOptions options(std::int64_t epochs) const {
    TrainerOptions options;
    options.max_epochs = epochs;
    options.num_sanity_val_steps = 0;
    options.seed = 7;
    options.root_dir = folder_;
    return options;
  }

  template <class M>
  std::string fitted(const TrainerOptions& options, DataModule& data,
                     const std::filesystem::path& checkpoint = {}) const {
    M module;
    Engine(options).fit(module, data, {}, checkpoint);
    return bytes_of(module);
  }

  // Every checkpoint of a fit that saves after each update, gone on with.
  template <class M>
  void expect_exact(const TrainerOptions& options, DataModule& data) const {
    const std::string expected = fitted<M>(options, data);
    TrainerOptions saving = options;
    saving.callbacks.push_back(std::make_shared<ModelCheckpoint>(
        ModelCheckpointOptions{.name = "{epoch}-{step}",
                               .save_top_k = -1,
                               .every_n_train_steps = 1}));
    fitted<M>(saving, data);
    int resumed = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder_ / "checkpoints")) {
      ++resumed;
      EXPECT_TRUE(fitted<M>(options, data, entry.path()) == expected)
          << entry.path().filename();
    }
    EXPECT_GT(resumed, 1);
  }

  const mishap::testing::TempFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

TEST_F(ResumeCases, SignalDuringAValidationInsideAWindow) {
  struct Asks : BusyModule {
    void validation_step(const Batch& batch, std::int64_t index) override {
      BusyModule::validation_step(batch, index);
      if (session().place().step == 1 && index == 0) {
        raise(SIGUSR1);
      }
    }
  };
  ManyData data(0);
  TrainerOptions asked = options(2);
  asked.accumulate_grad_batches = 3;
  asked.val_check_interval = 1;
  asked.signal_checkpoint = SIGUSR1;
  const std::string expected = fitted<Asks>(asked, data);
  ASSERT_TRUE(std::filesystem::exists(folder_ / "signal.ckpt"));
  EXPECT_TRUE(fitted<BusyModule>(asked, data, folder_ / "signal.ckpt") ==
              expected);
}

TEST_F(ResumeCases, LimitThatCutAnEpochAndIsLargerNow) {
  ManyData data(0);
  TrainerOptions cut = options(3);
  cut.max_steps = 6;
  const auto keeper = std::make_shared<ModelCheckpoint>(
      ModelCheckpointOptions{.name = "cut", .save_last = true});
  cut.callbacks = {keeper};
  fitted<BusyModule>(cut, data);
  // The rest of the epoch is trained: 4 batches an epoch.
  TrainerOptions longer = options(3);
  longer.max_steps = 10;
  const auto counts = std::make_shared<SpyCallback>();
  longer.callbacks = {counts};
  fitted<BusyModule>(longer, data, keeper->last_path());
  EXPECT_EQ(counts->losses.size(), 4U);
  const State end = read_checkpoint(keeper->last_path()).inner("progress");
  EXPECT_EQ(end.integer("batches"), 2);
}

// A parameter that only some batches use still moves by momentum in the others.
TEST_F(ResumeCases, ParameterThatABatchDoesNotUse) {
  struct SomeUnused : TinyModule {
    torch::nn::Linear other = register_module("other", torch::nn::Linear(3, 2));
    SomeUnused() {
      torch::manual_seed(3);
      const torch::NoGradGuard no_grad;
      for (torch::Tensor& parameter : parameters()) {
        parameter.uniform_(-0.5, 0.5);
      }
    }
    torch::Tensor training_step(const Batch& batch,
                                std::int64_t index) override {
      return index % 2 == 0
                 ? torch::cross_entropy_loss(other(batch.data), batch.target)
                 : loss_of(batch);
    }
  };
  ManyData data(0);
  TrainerOptions plain = options(2);
  plain.limit_val_batches = 0;
  expect_exact<SomeUnused>(plain, data);
}

TEST_F(ResumeCases, GradientsThatAModuleSumsByHand) {
  struct SumsTwo : BusyModule {
    bool automatic_optimization() const override { return false; }
    torch::Tensor training_step(const Batch& batch,
                                std::int64_t index) override {
      manual_backward(loss_of(batch));
      if (index % 3 == 0) {
        manual_step();
      }
      if (index % 3 == 1) {
        manual_zero_grad();
      }
      return {};
    }
    Optimizers configure_optimizers() override {
      return torch::optim::SGD(parameters(), 0.05);
    }
  };
  ManyData data(0);
  expect_exact<SumsTwo>(options(2), data);
}

// Draws from the process's generator for each batch.
struct DrawingLoader : Loader {
  explicit DrawingLoader(LoaderPtr below_) : below(std::move(below_)) {}
  void start(std::int64_t pass) override { below->start(pass); }
  std::optional<Batch> next() override {
    std::optional<Batch> batch = below->next();
    if (batch) {
      batch->data = batch->data + torch::randn_like(batch->data);
    }
    return batch;
  }
  State state() const override { return below->state(); }
  void load_state(const State& state) override { below->load_state(state); }
  LoaderPtr below;
};

struct DrawingData : ManyData {
  DrawingData() : ManyData(0) {}
  LoaderPtr train_dataloader() override {
    return std::make_unique<DrawingLoader>(ManyData::train_dataloader());
  }
};

TEST_F(ResumeCases, LoaderThatDrawsAndDoesNotKnowItsSize) {
  DrawingData data;
  TrainerOptions plain = options(2);
  expect_exact<BusyModule>(plain, data);
  std::filesystem::remove_all(folder_ / "checkpoints");
  plain.accumulate_grad_batches = 3;
  expect_exact<BusyModule>(plain, data);
}

TEST_F(ResumeCases, LoaderThatRefusesLeavesTheModuleAlone) {
  ManyData data(0);
  TrainerOptions saving = options(1);
  saving.callbacks = {std::make_shared<ModelCheckpoint>(
      ModelCheckpointOptions{.name = "good"})};
  fitted<BusyModule>(saving, data);
  struct Refuses : DrawingLoader {
    using DrawingLoader::DrawingLoader;
    void load_state(const State&) override {
      throw std::runtime_error("not my order");
    }
  };
  struct RefusingData : ManyData {
    RefusingData() : ManyData(0) {}
    LoaderPtr train_dataloader() override {
      return std::make_unique<Refuses>(ManyData::train_dataloader());
    }
  };
  RefusingData refusing;
  BusyModule module;
  const std::string before = bytes_of(module);
  const auto error = caught([&] {
    Engine(options(2))
        .fit(module, refusing, {}, folder_ / "checkpoints/good.ckpt");
  });
  EXPECT_EQ(message_of(error), "not my order");
  EXPECT_TRUE(bytes_of(module) == before);
}

TEST_F(ResumeCases, FitThatWasToldToStopStaysStopped) {
  const auto stops = [] {
    return std::make_shared<EarlyStopping>(
        EarlyStoppingOptions{.monitor = "loss", .stopping_threshold = 1e6});
  };
  ManyData data(0);
  TrainerOptions stopping = options(5);
  const auto keeper = std::make_shared<ModelCheckpoint>(
      ModelCheckpointOptions{.name = "stopped"});
  stopping.callbacks = {stops(), keeper};
  const std::string expected = fitted<BusyModule>(stopping, data);
  TrainerOptions again = options(5);
  again.callbacks = {stops()};
  EXPECT_TRUE(fitted<BusyModule>(again, data, keeper->best_path()) == expected);
}

TEST_F(ResumeCases, FilesOfAnotherFolderAreNotRemoved) {
  ManyData data(0);
  TrainerOptions first = options(1);
  first.callbacks = {std::make_shared<ModelCheckpoint>(ModelCheckpointOptions{
      .folder = folder_ / "first", .name = "{epoch}", .monitor = "loss"})};
  fitted<BusyModule>(first, data);
  TrainerOptions second = options(2);
  const auto keeper = std::make_shared<ModelCheckpoint>(ModelCheckpointOptions{
      .folder = folder_ / "second", .name = "{epoch}", .monitor = "loss"});
  second.callbacks = {keeper};
  fitted<BusyModule>(second, data, folder_ / "first/0.ckpt");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "first/0.ckpt"));
  EXPECT_EQ(keeper->best_path().parent_path(), folder_ / "second");
}

TEST_F(ResumeCases, SavesByStepsThoughABatchHasNoneOrSeveral) {
  ManyData data(0);
  TrainerOptions accumulating = options(1);
  accumulating.accumulate_grad_batches = 4;
  accumulating.callbacks = {
      std::make_shared<ModelCheckpoint>(ModelCheckpointOptions{
          .name = "{step}", .save_top_k = -1, .every_n_train_steps = 1})};
  fitted<BusyModule>(accumulating, data);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "checkpoints/0.ckpt"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "checkpoints/1.ckpt"));

  struct Thrice : BusyModule {
    bool automatic_optimization() const override { return false; }
    torch::Tensor training_step(const Batch& batch, std::int64_t) override {
      for (int i = 0; i < 3; ++i) {
        manual_zero_grad();
        manual_backward(loss_of(batch));
        manual_step();
      }
      return {};
    }
  };
  TrainerOptions by_hand = options(1);
  const auto keeper = std::make_shared<ModelCheckpoint>(ModelCheckpointOptions{
      .folder = folder_ / "by_hand", .every_n_train_steps = 2});
  by_hand.callbacks = {keeper};
  fitted<Thrice>(by_hand, data);
  EXPECT_FALSE(keeper->best_path().empty());
}

TEST_F(ResumeCases, MonitorWaitsForAValidationThatIsNotDue) {
  struct LogsValidation : BusyModule {
    void validation_step(const Batch& batch, std::int64_t) override {
      log("val_loss", loss_of(batch));
    }
  };
  ManyData data(0);
  TrainerOptions seldom = options(2);
  seldom.check_val_every_n_epoch = 2;
  const auto keeper = std::make_shared<ModelCheckpoint>(
      ModelCheckpointOptions{.name = "{epoch}", .monitor = "val_loss"});
  seldom.callbacks = {keeper};
  fitted<LogsValidation>(seldom, data);
  EXPECT_EQ(keeper->best_path().filename(), "1.ckpt");
}

}  // namespace
}  // namespace mishap::engine_test
