#include <fcntl.h>
#include <mishap/trainer/engine/callbacks/model_checkpoint.h>
#include <mishap/trainer/engine/checkpoint.h>
#include <signal.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>

#include "../temp_folder.h"
#include "engine_support.h"

namespace mishap::engine_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Logs the scores that a test wants, one an epoch.
struct Scored : TinyModule {
  explicit Scored(std::vector<double> scores_) : scores(std::move(scores_)) {}
  void on_train_epoch_end() override {
    log("score", scores.at(static_cast<std::size_t>(session().place().epoch)));
  }
  std::vector<double> scores;
};

// Refuses one call of a save, from the n-th save on.
class RefusingStore final : public FileStore {
 public:
  int saves_before = 1'000;
  int refused = 0;

  int create(const char* path) override {
    if (saves_before-- <= 0) {
      ++refused;
      errno = ENOSPC;
      return -1;
    }
    return system().create(path);
  }
  int open_folder(const char* path) override {
    return system().open_folder(path);
  }
  int open(const char* path) override { return system().open(path); }
  ssize_t read(int file, void* data, std::size_t size) override {
    return system().read(file, data, size);
  }
  ssize_t write(int file, const void* data, std::size_t size) override {
    return system().write(file, data, size);
  }
  int fsync(int file) override { return system().fsync(file); }
  int close(int file) override { return system().close(file); }
  int link(const char* from, const char* to) override {
    return system().link(from, to);
  }
  int rename(const char* from, const char* to) override {
    return system().rename(from, to);
  }
  int unlink(const char* path) override { return system().unlink(path); }
};

class ModelCheckpointTest : public ::testing::Test {
 protected:
  TrainerOptions options(std::shared_ptr<Callback> callback,
                         std::int64_t epochs) const {
    TrainerOptions options;
    options.max_epochs = epochs;
    options.root_dir = folder_;
    options.seed = 7;
    options.callbacks = {std::move(callback)};
    return options;
  }

  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder_ / "checkpoints")) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  std::int64_t step_of(const std::filesystem::path& path) const {
    return read_checkpoint(path).inner("progress").integer("step");
  }

  const mishap::testing::TempFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  TinyData data_;
};

TEST_F(ModelCheckpointTest, KeepsTheBestAndTheLast) {
  const auto keeper = std::make_shared<ModelCheckpoint>(
      ModelCheckpointOptions{.name = "{epoch}-{score}",
                             .monitor = "score",
                             .save_top_k = 2,
                             .save_last = true});
  Scored module({0.5, 0.3, NAN, 0.4, 0.9});
  Engine(options(keeper, 5)).fit(module, data_);
  EXPECT_THAT(files(), ElementsAre("1-0.3.ckpt", "3-0.4.ckpt", "last.ckpt"));
  EXPECT_EQ(keeper->best_path().filename(), "1-0.3.ckpt");
  EXPECT_EQ(keeper->best_score(), 0.3);
  EXPECT_EQ(step_of(keeper->last_path()), 10);
}

TEST_F(ModelCheckpointTest, HigherIsBetterWhereThatIsSaid) {
  const auto keeper = std::make_shared<ModelCheckpoint>(ModelCheckpointOptions{
      .name = "{epoch}", .monitor = "score", .better = Better::kHigher});
  Scored module({0.5, 0.8, 0.6});
  Engine(options(keeper, 3)).fit(module, data_);
  EXPECT_THAT(files(), ElementsAre("1.ckpt"));
}

TEST_F(ModelCheckpointTest, WithoutAMetricTheNewestIsKept) {
  const auto keeper = std::make_shared<ModelCheckpoint>(
      ModelCheckpointOptions{.every_n_train_steps = 2});
  TinyWorld world;
  Engine(options(keeper, 2)).fit(world.module, data_);
  EXPECT_THAT(files(), ElementsAre("epoch=1-step=4.ckpt"));
}

TEST_F(ModelCheckpointTest, SaysWhichMetricsThereAre) {
  const auto keeper = std::make_shared<ModelCheckpoint>(
      ModelCheckpointOptions{.monitor = "acuracy"});
  TinyWorld world;
  const auto error =
      caught([&] { Engine(options(keeper, 1)).fit(world.module, data_); });
  ASSERT_NE(error, nullptr);
  EXPECT_THAT(message_of(error), HasSubstr("'acuracy'"));
  EXPECT_THAT(message_of(error), HasSubstr("loss"));
}

// Case D8 and C10: what could not be saved changes nothing that is kept.
TEST_F(ModelCheckpointTest, FailedSaveLeavesFilesAndBookAsTheyWere) {
  const auto keeper = std::make_shared<ModelCheckpoint>(ModelCheckpointOptions{
      .name = "{epoch}", .monitor = "score", .save_top_k = 1});
  const auto store = std::make_shared<RefusingStore>();
  store->saves_before = 1;
  TrainerOptions trainer = options(keeper, 3);
  trainer.store = store;
  Scored module({0.5, 0.4, 0.3});
  const auto error = caught([&] { Engine(trainer).fit(module, data_); });
  ASSERT_NE(error, nullptr);
  EXPECT_THAT(message_of(error), HasSubstr("No space left"));
  EXPECT_EQ(store->refused, 1);
  EXPECT_THAT(files(), ElementsAre("0.ckpt"));
  EXPECT_EQ(keeper->best_path().filename(), "0.ckpt");
  EXPECT_EQ(keeper->best_score(), 0.5);
  EXPECT_EQ(module.calls.place.stage, Stage::kSaveCheckpoint);
  EXPECT_EQ(module.calls.place.hook, Hook::kSaveCheckpoint);
}

// Case D10: a signal while a checkpoint is saved waits until it is in place.
TEST_F(ModelCheckpointTest, InterruptDuringASaveComesBehindIt) {
  struct RaisingModule : TinyModule {
    void on_save_checkpoint(State&) override { raise(SIGINT); }
  };
  const auto keeper =
      std::make_shared<ModelCheckpoint>(ModelCheckpointOptions{.name = "all"});
  RaisingModule module;
  const auto error =
      caught([&] { Engine(options(keeper, 2)).fit(module, data_); });
  ASSERT_NE(error, nullptr);
  EXPECT_THROW(std::rethrow_exception(error), Interrupted);
  EXPECT_EQ(module.calls.place.stage, Stage::kSaveCheckpoint);
  for (const std::string& name : files()) {
    EXPECT_NO_THROW(read_checkpoint(folder_ / "checkpoints" / name)) << name;
  }
}

// Lightning's hole H34, and its T37: what a crash left is not replaced by less.
TEST_F(ModelCheckpointTest, CrashCheckpointIsNeverReplacedByAnotherStep) {
  const auto keeper = std::make_shared<ModelCheckpoint>(
      ModelCheckpointOptions{.save_top_k = 0, .save_on_exception = true});
  TinyWorld world;
  int steps = 0;
  world.module.in_training_step = [&](std::int64_t) {
    if (++steps == 4) {
      throw std::runtime_error("crash");
    }
  };
  EXPECT_NE(
      caught([&] { Engine(options(keeper, 3)).fit(world.module, data_); }),
      nullptr);
  EXPECT_THAT(files(), ElementsAre("crash-step=3.ckpt"));
  const auto crash = keeper->crash_path();

  // A fit that fails before its first update, and other entry points.
  world.module.in_training_step = [](std::int64_t) {
    throw std::runtime_error("at once");
  };
  EXPECT_NE(
      caught([&] { Engine(options(keeper, 3)).fit(world.module, data_); }),
      nullptr);
  world.module.in_validation_step = [] { throw std::runtime_error("no"); };
  EXPECT_NE(
      caught([&] { Engine(options(keeper, 3)).validate(world.module, data_); }),
      nullptr);
  EXPECT_THAT(files(), ElementsAre("crash-step=3.ckpt"));
  EXPECT_EQ(step_of(crash), 3);
}

TEST_F(ModelCheckpointTest, SanityCheckAndQuickLookLeaveNothing) {
  const auto keeper = std::make_shared<ModelCheckpoint>(ModelCheckpointOptions{
      .after_validation = true, .save_on_exception = true});
  TinyWorld world;
  world.module.in_validation_step = [] { throw std::runtime_error("sanity"); };
  EXPECT_NE(
      caught([&] { Engine(options(keeper, 1)).fit(world.module, data_); }),
      nullptr);
  EXPECT_THAT(files(), IsEmpty());
  world.module.in_validation_step = nullptr;
  TrainerOptions quick = options(keeper, 5);
  quick.fast_dev_run = 1;
  quick.root_dir = folder_ / "quick";
  Engine(quick).fit(world.module, data_);
  EXPECT_FALSE(std::filesystem::exists(quick.root_dir));
}

TEST_F(ModelCheckpointTest, WhatAKilledSaveLeftIsRemoved) {
  const auto folder = folder_ / "checkpoints";
  std::filesystem::create_directories(folder);
  // No process has that number.
  std::ofstream(folder / ".epoch=9.ckpt.mishap-2147483646-0") << "half";
  const auto keeper =
      std::make_shared<ModelCheckpoint>(ModelCheckpointOptions{.name = "new"});
  TinyWorld world;
  Engine(options(keeper, 1)).fit(world.module, data_);
  EXPECT_THAT(files(), ElementsAre("new.ckpt"));
}

TEST_F(ModelCheckpointTest, BookIsPartOfTheCheckpoint) {
  const ModelCheckpointOptions kept{.name = "{epoch}",
                                    .monitor = "score",
                                    .save_top_k = 1,
                                    .save_last = true};
  Scored first({0.2, 0.5});
  Engine(options(std::make_shared<ModelCheckpoint>(kept), 2)).fit(first, data_);
  const auto again = std::make_shared<ModelCheckpoint>(kept);
  Scored second({0.2, 0.5, 0.4});
  Engine(options(again, 3))
      .fit(second, data_, {}, folder_ / "checkpoints/last.ckpt");
  EXPECT_EQ(again->best_path().filename(), "0.ckpt");
  EXPECT_THAT(files(), ElementsAre("0.ckpt", "last.ckpt"));
}

TEST_F(ModelCheckpointTest, BadOptionsAreRefusedByFitInWords) {
  for (const auto& [bad, words] :
       std::vector<std::pair<ModelCheckpointOptions, std::string>>{
           {{.save_top_k = -2}, "save_top_k is -2"},
           {{.name = "a/b"}, "name is 'a/b'"},
           {{.every_n_train_steps = -1}, "every_n_train_steps"},
           {{.folder = "/proc/nowhere"}, "/proc/nowhere"}}) {
    TinyWorld world;
    const auto error = caught([&] {
      Engine(options(std::make_shared<ModelCheckpoint>(bad), 1))
          .fit(world.module, data_);
    });
    ASSERT_NE(error, nullptr) << words;
    EXPECT_THROW(std::rethrow_exception(error), InputError);
    EXPECT_THAT(message_of(error), HasSubstr(words));
  }
}

// SIGUSR1 asks for a checkpoint and ends nothing (Lightning's hole H32).
TEST_F(ModelCheckpointTest, SignalSavesAtTheNextSafePointAndGoesOn) {
  for (const bool in_validation : {false, true}) {
    TinyWorld world;
    std::filesystem::remove(folder_ / "signal.ckpt");
    int calls = 0;
    const auto ask = [&] {
      if (++calls == 3) {
        raise(SIGUSR1);
      }
    };
    world.module.in_training_step = [&](std::int64_t) {
      if (!in_validation) {
        ask();
      }
    };
    world.module.in_validation_step = [&] {
      if (in_validation) {
        ask();
      }
    };
    TrainerOptions trainer = options(nullptr, 3);
    trainer.callbacks.clear();
    trainer.signal_checkpoint = SIGUSR1;
    const torch::Tensor expected = [&] {
      TinyWorld uncut;
      TrainerOptions plain = trainer;
      plain.signal_checkpoint.reset();
      Engine(plain).fit(uncut.module, uncut.data);
      return weights_of(uncut.module);
    }();
    Engine(trainer).fit(world.module, data_);
    EXPECT_TRUE(weights_of(world.module).equal(expected));
    ASSERT_TRUE(std::filesystem::exists(folder_ / "signal.ckpt"));
    TinyWorld resumed(9);
    Engine(trainer).fit(resumed.module, data_, {}, folder_ / "signal.ckpt");
    EXPECT_TRUE(weights_of(resumed.module).equal(expected));
    struct sigaction now {};
    sigaction(SIGUSR1, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_DFL);
  }
}

TEST_F(ModelCheckpointTest, SavingWhereNoFitCanGoOnIsRefusedInWords) {
  struct SavesTooEarly : Callback {
    void on_train_batch_start(Session& session, const Batch&,
                              std::int64_t index) override {
      if (index == 1) {
        session.save_checkpoint("never.ckpt");
      }
    }
  };
  TinyWorld world;
  const auto error = caught([&] {
    Engine(options(std::make_shared<SavesTooEarly>(), 1))
        .fit(world.module, data_);
  });
  ASSERT_NE(error, nullptr);
  EXPECT_THAT(message_of(error), HasSubstr("on_train_batch_start"));
  EXPECT_FALSE(std::filesystem::exists("never.ckpt"));
}

}  // namespace
}  // namespace mishap::engine_test
