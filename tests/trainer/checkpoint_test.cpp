#include <mishap/trainer/engine/callbacks/model_checkpoint.h>
#include <mishap/trainer/engine/checkpoint.h>
#include <mishap/trainer/engine/make_loader.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "../temp_folder.h"
#include "engine_support.h"

namespace mishap::engine_test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSamples = 14;
constexpr std::int64_t kEpochs = 3;

class PairsDataset final
    : public torch::data::datasets::BatchDataset<PairsDataset, Batch> {
 public:
  PairsDataset(torch::Tensor data, torch::Tensor target)
      : data_(std::move(data)), target_(std::move(target)) {}
  Batch get_batch(c10::ArrayRef<std::size_t> indices) override {
    const torch::Tensor rows = torch::tensor(
        std::vector<std::int64_t>(indices.begin(), indices.end()));
    return {data_.index_select(0, rows), target_.index_select(0, rows), {}};
  }
  compat::DatasetSize size() const override {
    return static_cast<std::size_t>(data_.size(0));
  }

 private:
  torch::Tensor data_;
  torch::Tensor target_;
};

struct ManyData : DataModule {
  explicit ManyData(std::int64_t workers_) : workers(workers_) {}
  LoaderPtr train_dataloader() override { return load(true); }
  LoaderPtr val_dataloader() override { return load(false); }

  LoaderPtr load(bool shuffle) const {
    // Its order follows the trainer's seed: a resumed fit must take it over.
    const LoaderOptions options{
        .batch_size = 4, .workers = workers, .shuffle = shuffle};
    const torch::Tensor data =
        torch::arange(kSamples * 3, torch::kFloat32).reshape({kSamples, 3}) /
        40;
    const torch::Tensor target = torch::arange(kSamples, torch::kInt64) % 2;
    if (workers > 0) {
      return make_loader(PairsDataset(data, target), options);
    }
    return std::make_unique<TensorLoader>(data, target, options);
  }

  std::int64_t workers;
};

// Random numbers in the step, momentum, three kinds of scheduler, a count of
// its own, a buffer.
struct BusyModule : TinyModule {
  torch::nn::BatchNorm1d norm =
      register_module("norm", torch::nn::BatchNorm1d(3));

  BusyModule() {
    torch::manual_seed(3);
    const torch::NoGradGuard no_grad;
    for (torch::Tensor& parameter : parameters()) {
      parameter.uniform_(-0.5, 0.5);
    }
  }
  torch::Tensor training_step(const Batch& batch, std::int64_t index) override {
    ++steps_seen;
    Batch normed = batch;
    normed.data = norm(batch.data);
    return TinyModule::training_step(normed, index);
  }
  Optimizers configure_optimizers() override {
    return Optimizers(torch::optim::Adam(parameters(), 0.05))
        .schedule<torch::optim::StepLR>(Optimizers::Every::kStep, 2, 0.9)
        .schedule<torch::optim::StepLR>(Optimizers::Every::kEpoch, 1, 0.5)
        .reduce_on_plateau({.monitor = "loss", .patience = 0});
  }
  void on_save_checkpoint(State& state) override {
    state.set("steps_seen", steps_seen);
  }
  void on_load_checkpoint(const State& state) override {
    steps_seen = state.integer("steps_seen");
  }
  std::int64_t steps_seen = 0;
};

// Draws in hooks that a resumed batch or epoch runs again.
struct DrawsBefore : Callback {
  void on_train_epoch_start(Session&) override { torch::rand({1}); }
  void on_train_batch_start(Session&, const Batch&, std::int64_t) override {
    torch::rand({1});
  }
  void on_before_backward(Session&, const torch::Tensor&) override {
    torch::rand({1});
  }
};

// And in those that come between a save and the next batch.
struct Draws : DrawsBefore {
  void on_train_batch_end(Session&, const torch::Tensor&, const Batch&,
                          std::int64_t) override {
    torch::rand({1});
  }
  void on_validation_end(Session&) override { torch::rand({1}); }
  void on_train_epoch_end(Session&) override { torch::rand({1}); }
};

std::string bytes_of(const Module& module) {
  std::string bytes;
  const auto add = [&](const torch::Tensor& tensor) {
    const torch::Tensor flat = tensor.detach().contiguous();
    bytes.append(static_cast<const char*>(flat.data_ptr()), flat.nbytes());
  };
  for (const torch::Tensor& parameter : module.parameters()) {
    add(parameter);
  }
  for (const torch::Tensor& buffer : module.buffers()) {
    add(buffer);
  }
  return bytes;
}

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

// -- loading is all or nothing ----------------------------------------------

class LoadCheckpoint : public ::testing::Test {
 protected:
  void SetUp() override {
    BusyModule module;
    ManyData data(0);
    TrainerOptions saving = options();
    saving.callbacks = {std::make_shared<ModelCheckpoint>(
        ModelCheckpointOptions{.name = "good"})};
    Engine(saving).fit(module, data);
    bytes_ = read(good());
  }

  TrainerOptions options() const {
    TrainerOptions options;
    options.max_epochs = 1;
    options.root_dir = folder_;
    options.seed = 7;
    return options;
  }
  std::filesystem::path good() const {
    return folder_ / "checkpoints/good.ckpt";
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::filesystem::path write(const std::string& bytes) const {
    const auto path = folder_ / "other.ckpt";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  // The error of a fit that goes on from the file, whose module must be as it
  // was, and where it was said to have come.
  template <class M = BusyModule>
  std::exception_ptr refused(const std::filesystem::path& path) {
    M module;
    ManyData data(0);
    const std::string before = bytes_of(module);
    const auto error =
        caught([&] { Engine(options()).fit(module, data, {}, path); });
    EXPECT_TRUE(bytes_of(module) == before) << "half loaded";
    place_ = module.calls.place;
    return error;
  }

  const mishap::testing::TempFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  std::string bytes_;
  Place place_;
};

template <class Error>
bool is_a(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error&) {
    return true;
  } catch (...) {
    return false;
  }
}

// Cases D1 and D5.
TEST_F(LoadCheckpoint, RefusesWhatIsTruncatedGarbageEmptyOrFlipped) {
  std::string flipped = bytes_;
  flipped[flipped.size() / 2] ^= 1;
  for (const std::string& bad :
       {std::string(), std::string("garbage"), bytes_.substr(0, 600),
        bytes_.substr(0, bytes_.size() - 1), bytes_ + "x", flipped}) {
    const auto error = refused(write(bad));
    ASSERT_NE(error, nullptr);
    EXPECT_TRUE(is_a<CheckpointError>(error));
    EXPECT_THAT(message_of(error),
                HasSubstr("other.ckpt (" + std::to_string(bad.size())));
    EXPECT_EQ(place_.stage, Stage::kLoadCheckpoint);
    EXPECT_EQ(place_.hook, Hook::kLoadCheckpoint);
  }
}

TEST_F(LoadCheckpoint, FindsEveryFlippedByte) {
  for (std::size_t i = 0; i < bytes_.size(); i += 97) {
    std::string flipped = bytes_;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    EXPECT_THROW(from_checkpoint(flipped, "flipped"), CheckpointError) << i;
  }
}

// Case D2: missing is told from damaged, by its errno.
TEST_F(LoadCheckpoint, SaysWithErrnoThatAFileIsMissing) {
  const auto error = refused(folder_ / "nowhere.ckpt");
  ASSERT_TRUE(is_a<FileError>(error));
  try {
    std::rethrow_exception(error);
  } catch (const FileError& missing) {
    EXPECT_EQ(missing.code().value(), ENOENT);
    EXPECT_THAT(missing.path(), HasSubstr("nowhere.ckpt"));
  }
}

// Case D3.
TEST_F(LoadCheckpoint, RefusesAnotherArchitecture) {
  struct Other : BusyModule {
    torch::nn::Linear extra = register_module("extra", torch::nn::Linear(2, 2));
  };
  const auto error = refused<Other>(good());
  ASSERT_TRUE(is_a<CheckpointError>(error));
  EXPECT_THAT(message_of(error), HasSubstr("extra.weight"));
  struct Wider : BusyModule {
    Wider() { replace_module("out", torch::nn::Linear(4, 5)); }
  };
  const auto wider = refused<Wider>(good());
  ASSERT_TRUE(is_a<CheckpointError>(wider));
  EXPECT_THAT(message_of(wider), HasSubstr("of another shape"));
}

TEST_F(LoadCheckpoint, RefusesAnArchiveOfLibTorch) {
  std::ostringstream stream;
  torch::save(torch::ones({2}), stream);
  EXPECT_TRUE(is_a<CheckpointError>(refused(write(stream.str()))));
}

// Case D12.
TEST_F(LoadCheckpoint, RefusesAnotherOptimizer) {
  struct WithSgd : BusyModule {
    Optimizers configure_optimizers() override {
      return Optimizers(torch::optim::SGD(parameters(), 0.1))
          .schedule<torch::optim::StepLR>(Optimizers::Every::kStep, 2, 0.9)
          .schedule<torch::optim::StepLR>(Optimizers::Every::kEpoch, 1, 0.5)
          .reduce_on_plateau({.monitor = "loss", .patience = 0});
    }
  };
  const auto error = refused<WithSgd>(good());
  ASSERT_TRUE(is_a<CheckpointError>(error));
  EXPECT_THAT(message_of(error), HasSubstr("Adam"));
  EXPECT_EQ(place_.hook, Hook::kRestoreOptimizer);

  struct Fewer : BusyModule {
    Optimizers configure_optimizers() override {
      return torch::optim::Adam(out->parameters(), 0.05);
    }
  };
  EXPECT_TRUE(is_a<CheckpointError>(refused<Fewer>(good())));
}

// A hook that fails when all but the weights was taken over.
TEST_F(LoadCheckpoint, LeavesTheModuleAloneWhenAHookFails) {
  struct Refuses : BusyModule {
    void on_load_checkpoint(const State&) override {
      throw std::runtime_error("not mine");
    }
  };
  const auto error = refused<Refuses>(good());
  EXPECT_EQ(message_of(error), "not mine");
  EXPECT_EQ(place_.stage, Stage::kLoadCheckpoint);
}

// Lightning's test T14.
TEST_F(LoadCheckpoint, RefusesToGoOnBehindTheLastEpoch) {
  BusyModule module;
  ManyData data(0);
  TrainerOptions fewer = options();
  fewer.max_epochs = 0;
  const mishap::testing::TempFolder other_temporary;
  const std::filesystem::path other = other_temporary.path();
  TrainerOptions longer = options();
  longer.max_epochs = 2;
  longer.root_dir = other;
  longer.callbacks = {std::make_shared<ModelCheckpoint>(
      ModelCheckpointOptions{.name = "late", .every_n_epochs = 2})};
  Engine(longer).fit(module, data);
  const auto error = caught([&] {
    Engine(fewer).fit(module, data, {}, other / "checkpoints/late.ckpt");
  });
  ASSERT_NE(error, nullptr);
  EXPECT_THAT(message_of(error), HasSubstr("max_epochs is 0"));
}

TEST_F(LoadCheckpoint, GivesOtherEntryPointsTheWeights) {
  BusyModule trained;
  ManyData data(0);
  Engine(options()).fit(trained, data);
  BusyModule module;
  Engine(options()).validate(module, data, {}, good());
  EXPECT_TRUE(bytes_of(module) == bytes_of(trained));
}

TEST(CheckpointFile, KeepsEveryKindOfValue) {
  State inner;
  inner.set("empty", torch::Tensor(torch::empty({0, 3})));
  State state;
  state.set("whole", -7);
  state.set("number", 0.1);
  state.set("nan", std::numeric_limits<double>::quiet_NaN());
  state.set("flag", true);
  state.set("text", std::string("a\0b \xff", 5));
  state.set("view", torch::arange(10).narrow(0, 2, 3));
  state.set("inner", inner);
  const State back = from_checkpoint(to_checkpoint(state), "here");
  EXPECT_EQ(back.integer("whole"), -7);
  EXPECT_EQ(back.number("number"), 0.1);
  EXPECT_TRUE(std::isnan(back.number("nan")));
  EXPECT_TRUE(back.flag("flag"));
  EXPECT_EQ(back.text("text"), std::string("a\0b \xff", 5));
  EXPECT_TRUE(back.tensor("view").equal(torch::tensor({2, 3, 4})));
  EXPECT_EQ(back.tensor("view").storage().nbytes(), 3 * sizeof(std::int64_t));
  EXPECT_EQ(back.inner("inner").tensor("empty").sizes(),
            (std::vector<std::int64_t>{0, 3}));
  EXPECT_THROW(back.integer("number"), CheckpointError);
  EXPECT_THROW(back.text("nothing"), CheckpointError);
}

}  // namespace
}  // namespace mishap::engine_test
