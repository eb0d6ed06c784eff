#include <mishap/trainer/engine/callbacks/model_checkpoint.h>

#include <filesystem>

#include "../temp_folder.h"
#include "checkpoint_support.h"

namespace mishap::engine_test {
namespace {

/// How a fit is set up; every one must be cut anywhere and gone on with.
struct Setting {
  std::string name;
  std::function<void(TrainerOptions&)> change = [](TrainerOptions&) {};
  std::int64_t workers = 0;
};

std::ostream& operator<<(std::ostream& out, const Setting& setting) {
  return out << setting.name;
}

class Resume : public ::testing::TestWithParam<Setting> {
 protected:
  TrainerOptions options() const {
    TrainerOptions options;
    options.max_epochs = kEpochs;
    options.num_sanity_val_steps = 1;
    options.seed = 7;
    options.callbacks = {draws_};
    options.root_dir = folder_;
    GetParam().change(options);
    return options;
  }

  // What an uncut fit ends with.
  std::string uncut() const {
    BusyModule module;
    ManyData data(GetParam().workers);
    Engine(options()).fit(module, data);
    return bytes_of(module);
  }

  // The same, gone on with from a file, on a module of other weights.
  std::string resumed(const std::filesystem::path& checkpoint) const {
    BusyModule module;
    {
      const torch::NoGradGuard no_grad;
      for (torch::Tensor& parameter : module.parameters()) {
        parameter.zero_();
      }
    }
    ManyData data(GetParam().workers);
    TrainerOptions again = options();
    again.seed = 99;
    Engine(again).fit(module, data, {}, checkpoint);
    return bytes_of(module);
  }

  std::vector<std::filesystem::path> checkpoints() const {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(folder_)) {
      if (entry.path().extension() == ".ckpt") {
        paths.push_back(entry.path());
      }
    }
    return paths;
  }

  std::shared_ptr<Callback> draws_ = std::make_shared<Draws>();
  const mishap::testing::TempFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

TEST_P(Resume, CutAfterAnyBatchEndsWithTheSameBits) {
  const std::string expected = uncut();
  BusyModule module;
  ManyData data(GetParam().workers);
  TrainerOptions saving = options();
  saving.callbacks.push_back(std::make_shared<ModelCheckpoint>(
      ModelCheckpointOptions{.name = "step={step}-epoch={epoch}",
                             .save_top_k = -1,
                             .every_n_train_steps = 1}));
  Engine(saving).fit(module, data);
  ASSERT_EQ(bytes_of(module), expected) << "saving changes the training";
  const auto paths = checkpoints();
  ASSERT_GE(paths.size(), 6U);
  for (const auto& path : paths) {
    EXPECT_TRUE(resumed(path) == expected) << path.filename();
  }
}

TEST_P(Resume, CutAtAnyEpochOrValidationEndsWithTheSameBits) {
  const std::string expected = uncut();
  for (const bool after_validation : {false, true}) {
    BusyModule module;
    ManyData data(GetParam().workers);
    TrainerOptions saving = options();
    saving.callbacks.push_back(
        std::make_shared<ModelCheckpoint>(ModelCheckpointOptions{
            .folder = folder_ / (after_validation ? "val" : "epoch"),
            .save_top_k = -1,
            .after_validation = after_validation}));
    Engine(saving).fit(module, data);
  }
  const auto paths = checkpoints();
  ASSERT_GE(paths.size(), 4U);
  for (const auto& path : paths) {
    EXPECT_TRUE(resumed(path) == expected) << path;
  }
}

TEST_P(Resume, CrashAtAnyHookLeavesWhatEndsWithTheSameBits) {
  // What a hook behind an update would have drawn does not come again.
  draws_ = std::make_shared<DrawsBefore>();
  const std::string expected = uncut();
  int saved = 0;
  bool fired = true;
  // Every hit would take minutes; a step that shares no factor with the
  // hooks of a batch comes to all of them.
  for (std::size_t hit = 0; fired; hit += 7) {
    for (const auto when :
         {FailAtHit::When::kBefore, FailAtHit::When::kAfter}) {
      BusyModule module;
      ManyData data(GetParam().workers);
      TrainerOptions failing = options();
      const auto keeper = std::make_shared<ModelCheckpoint>(
          ModelCheckpointOptions{.save_top_k = 0, .save_on_exception = true});
      failing.callbacks.push_back(keeper);
      FailAtHit fault(hit, when);
      caught([&] { Engine(failing).fit(module, data, watched_by(fault)); });
      fired = fault.fired;
      if (keeper->crash_path().empty()) {
        continue;
      }
      ++saved;
      EXPECT_TRUE(resumed(keeper->crash_path()) == expected)
          << to_string(fault.hook) << " (hit " << hit << ')';
      std::filesystem::remove(keeper->crash_path());
    }
  }
  EXPECT_GT(saved, 20);
}

INSTANTIATE_TEST_SUITE_P(
    Fits, Resume,
    ::testing::Values(Setting{"Plain"},
                      Setting{"Accumulated",
                              [](TrainerOptions& options) {
                                options.accumulate_grad_batches = 3;
                              }},
                      Setting{"ValidatedInside",
                              [](TrainerOptions& options) {
                                options.val_check_interval = 0.5;
                                options.limit_train_batches = 4;
                              }},
                      Setting{"MaxSteps",
                              [](TrainerOptions& options) {
                                options.max_steps = 7;
                              }},
                      Setting{"Workers", [](TrainerOptions&) {}, 2}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace mishap::engine_test
