#include <mishap/trainer/engine/make_loader.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <numeric>
#include <set>
#include <thread>

#include "engine_support.h"

namespace mishap::engine_test {
namespace {

class Numbers : public torch::data::datasets::Dataset<Numbers> {
 public:
  explicit Numbers(std::int64_t size) : size_(size) {}
  torch::data::Example<> get(std::size_t index) override {
    if (look) {
      look(index);
    }
    return {torch::full({3}, static_cast<double>(index)),
            torch::tensor(static_cast<std::int64_t>(index % 2))};
  }
  compat::DatasetSize size() const override {
    return static_cast<std::size_t>(size_);
  }
  std::function<void(std::size_t)> look;

 private:
  std::int64_t size_;
};

std::vector<double> pass_of(Loader& loader, std::int64_t pass) {
  std::vector<double> seen;
  loader.start(pass);
  while (std::optional<Batch> batch = loader.next()) {
    for (std::int64_t i = 0; i < batch->size(); ++i) {
      seen.push_back(batch->data[i][0].item<double>());
    }
  }
  return seen;
}

LoaderOptions shuffled(std::int64_t workers) {
  return {.batch_size = 3, .workers = workers, .shuffle = true, .seed = 11};
}

std::set<std::string> threads() {
  std::set<std::string> ids;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task")) {
    ids.insert(entry.path().filename());
  }
  return ids;
}

TEST(EngineLoaderTest, WorkersChangeNothingAboutTheOrder) {
  const LoaderPtr alone = make_loader(Numbers(10), shuffled(0));
  const LoaderPtr helped = make_loader(Numbers(10), shuffled(2));
  const std::vector<double> first = pass_of(*alone, 0);
  EXPECT_EQ(pass_of(*helped, 0), first);
  EXPECT_EQ(pass_of(*helped, 1), pass_of(*alone, 1));
  EXPECT_NE(pass_of(*alone, 1), first);
  EXPECT_THAT(first,
              testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(EngineLoaderTest, TensorsInMemoryComeInTheSameOrderAsADataSet) {
  const auto numbers =
      torch::arange(10, torch::kFloat32).unsqueeze(1).repeat({1, 3});
  TensorLoader tensors(numbers, torch::zeros({10}), shuffled(0));
  EXPECT_EQ(pass_of(tensors, 4),
            pass_of(*make_loader(Numbers(10), shuffled(0)), 4));
}

TEST(EngineLoaderTest, OrderFollowsTheGlobalSeedWhenItHasNone) {
  LoaderOptions options = shuffled(0);
  options.seed.reset();
  const auto order = [&](std::uint64_t seed) {
    torch::manual_seed(seed);
    return pass_of(*make_loader(Numbers(40), options), 0);
  };
  EXPECT_EQ(order(3), order(3));
  EXPECT_NE(order(3), order(4));
}

TEST(EngineLoaderTest, LoadingDrawsNothingFromTheGlobalGenerator) {
  const LoaderPtr loader = make_loader(Numbers(10), shuffled(0));
  torch::manual_seed(1);
  const float expected = torch::rand({1}).item<float>();
  torch::manual_seed(1);
  pass_of(*loader, 0);
  EXPECT_EQ(torch::rand({1}).item<float>(), expected);
}

TEST(EngineLoaderTest, ShortLastBatchMayBeLeftOut) {
  LoaderOptions options{.batch_size = 3, .drop_last = true};
  for (const std::int64_t workers : {0, 2}) {
    options.workers = workers;
    const LoaderPtr loader = make_loader(Numbers(10), options);
    EXPECT_EQ(loader->size(), 3);
    EXPECT_EQ(pass_of(*loader, 0).size(), 9U);
  }
  options.workers = 0;
  TensorLoader tensors(torch::rand({10, 1}), {}, options);
  EXPECT_EQ(tensors.size(), 3);
  EXPECT_EQ(pass_of(tensors, 0).size(), 9U);
}

TEST(EngineLoaderTest, PassMayBeBegunAnewAtAnyTime) {
  for (const std::int64_t workers : {0, 2}) {
    const LoaderPtr loader =
        make_loader(Numbers(30), {.batch_size = 1, .workers = workers});
    loader->start(0);
    EXPECT_TRUE(loader->next());
    EXPECT_EQ(pass_of(*loader, 1).size(), 30U);
    EXPECT_FALSE(loader->next());
  }
}

class LoadedData : public TinyData {
 public:
  LoaderPtr train_dataloader() override {
    return make_loader(numbers, {.batch_size = 2, .workers = workers});
  }
  Numbers numbers{8};
  std::int64_t workers = 0;
};

std::exception_ptr fit_with(LoadedData& data, TinyModule& module,
                            GuardOptions guard = {}) {
  TrainerOptions options;
  options.max_epochs = 2;
  options.limit_val_batches = 0;
  options.seed = 7;
  return caught([&] { Engine(options).fit(module, data, guard); });
}

TEST(EngineLoaderTest, FitIsTheSameWithAndWithoutWorkers) {
  TinyWorld alone;
  TinyWorld helped;
  LoadedData data;
  EXPECT_FALSE(fit_with(data, alone.module));
  data.workers = 2;
  EXPECT_FALSE(fit_with(data, helped.module));
  EXPECT_TRUE(
      torch::equal(weights_of(alone.module), weights_of(helped.module)));
}

TEST(EngineLoaderTest, ErrorOfADataSetComesAsItselfWithoutWorkers) {
  TinyModule module;
  LoadedData data;
  data.numbers.look = [](std::size_t index) {
    if (index == 5) {
      throw std::out_of_range("bad sample 5");
    }
  };
  const auto error = fit_with(data, module);
  EXPECT_THROW(std::rethrow_exception(error), std::out_of_range);
  EXPECT_EQ(module.calls.place.hook, Hook::kLoadBatch);
  EXPECT_EQ(module.calls.place.component.name(), "loader");
  EXPECT_EQ(module.calls.place.batch, 2);
}

TEST(EngineLoaderTest, C1ErrorInAWorkerKeepsItsCauseAndLeavesNoThread) {
  TinyModule module;
  LoadedData data;
  data.workers = 2;
  EXPECT_FALSE(fit_with(data, module));
  const std::set<std::string> before = threads();
  data.numbers.look = [](std::size_t index) {
    if (index == 5) {
      throw std::out_of_range("bad sample 5");
    }
  };
  const auto error = fit_with(data, module);
  try {
    std::rethrow_exception(error);
  } catch (const torch::data::WorkerException& worker) {
    EXPECT_THROW(std::rethrow_exception(worker.original_exception),
                 std::out_of_range);
  }
  for (int i = 0; i < 50 && threads() != before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(threads(), before);
  data.numbers.look = nullptr;
  EXPECT_FALSE(fit_with(data, module));
}

TEST(EngineLoaderTest, C3SamplesOfUnequalSizeFailToStack) {
  struct Uneven : torch::data::datasets::Dataset<Uneven> {
    torch::data::Example<> get(std::size_t index) override {
      return {torch::rand({static_cast<std::int64_t>(index) + 1}),
              torch::tensor(0)};
    }
    compat::DatasetSize size() const override { return 4; }
  };
  const LoaderPtr loader = make_loader(Uneven(), {.batch_size = 2});
  loader->start(0);
  EXPECT_THAT(message_of(caught([&] { loader->next(); })),
              testing::HasSubstr("stack expects each tensor to be equal size"));
}

TEST(EngineLoaderTest, C4HungWorkerEndsTheWaitAtItsTimeout) {
  Numbers numbers(4);
  numbers.look = [](std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
  };
  const LoaderPtr loader =
      make_loader(numbers, {.batch_size = 1,
                            .workers = 1,
                            .timeout = std::chrono::milliseconds(50)});
  loader->start(0);
  const auto error = caught([&] { loader->next(); });
  EXPECT_THROW(std::rethrow_exception(error), c10::Error);
  EXPECT_THAT(message_of(error), testing::HasSubstr("Timeout in DataLoader"));
}

TEST(EngineLoaderTest, SlowWorkerIsWaitedForWithoutATimeout) {
  Numbers numbers(2);
  numbers.look = [](std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  };
  const LoaderPtr loader = make_loader(numbers, {.workers = 1});
  EXPECT_EQ(pass_of(*loader, 0).size(), 2U);
}

TEST(EngineLoaderTest, InterruptIsHonouredWhileAWorkerIsWaitedFor) {
  TinyModule module;
  LoadedData data;
  data.workers = 1;
  data.numbers.look = [](std::size_t index) {
    if (index == 3) {
      raise(SIGINT);
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
    }
  };
  const auto error = fit_with(data, module);
  EXPECT_THROW(std::rethrow_exception(error), Interrupted);
  EXPECT_EQ(module.calls.told, 1);
}

TEST(EngineLoaderTest, C11NonsenseOptionsAreNamed) {
  struct Case {
    std::string text;
    LoaderOptions options;
  };
  const std::vector<Case> cases = {
      {"batch_size is 0", {.batch_size = 0}},
      {"workers is -1", {.workers = -1}},
      {"timeout is 0", {.timeout = std::chrono::milliseconds(0)}},
  };
  for (const Case& bad : cases) {
    for (const auto& make : std::vector<std::function<void()>>{
             [&] { make_loader(Numbers(4), bad.options); },
             [&] { TensorLoader(torch::rand({4}), {}, bad.options); }}) {
      const auto error = caught(make);
      ASSERT_TRUE(error) << bad.text;
      EXPECT_THROW(std::rethrow_exception(error), InputError);
      EXPECT_THAT(message_of(error), testing::HasSubstr(bad.text));
    }
  }
  EXPECT_THROW(TensorLoader(torch::rand({4}), torch::rand({3}), {}),
               InputError);
  EXPECT_THROW(TensorLoader(torch::rand({4}), {}, {.workers = 2}), InputError);
}

TEST(EngineLoaderTest, LoaderThatEndsEarlyInALaterEpochIsNoSuccess) {
  struct OneShot : Loader {
    void start(std::int64_t) override {}
    std::optional<Batch> next() override {
      if (left-- <= 0) {
        return std::nullopt;
      }
      return Batch{torch::rand({2, 3}), torch::tensor({0, 1}), {}};
    }
    int left = 2;
  };
  struct OneShotData : TinyData {
    LoaderPtr train_dataloader() override {
      return std::make_unique<OneShot>();
    }
  } data;
  TinyModule module;
  TrainerOptions options;
  options.max_epochs = 2;
  options.limit_val_batches = 0;
  Engine engine(options);
  EXPECT_THROW(engine.fit(module, data), NothingRan);
  EXPECT_EQ(module.calls.place.epoch, 1);
}

}  // namespace
}  // namespace mishap::engine_test
