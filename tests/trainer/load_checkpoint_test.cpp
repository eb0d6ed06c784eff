#include <mishap/trainer/engine/callbacks/model_checkpoint.h>
#include <mishap/trainer/engine/checkpoint.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "../temp_folder.h"
#include "checkpoint_support.h"

namespace mishap::engine_test {
namespace {

using ::testing::HasSubstr;

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
