#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/util/Backtrace.h>
#include <c10/util/Logging.h>
#include <gtest/gtest.h>
#include <mishap/collector/exception_chain.h>
#include <mishap/collector/resolve/symbolize.h>
#include <mishap/collector/throw_hook.h>
#include <mishap/collector/torch/quiet_errors.h>
#include <mishap/collector/torch/translators.h>
#include <torch/data.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "throw_helpers.h"

namespace sample {
namespace {

int loss_line = 0;
int sample_line = 0;

[[gnu::noinline]] at::Tensor loss_with_label_out_of_range() {
  const at::Tensor logits = at::zeros({2, 3});
  const at::Tensor labels = at::full({2}, 7, at::kLong);
  loss_line = __LINE__ + 1;
  at::Tensor loss = at::cross_entropy_loss(logits, labels);
  return loss + 1;
}

struct FailingDataset : torch::data::datasets::Dataset<FailingDataset> {
  torch::data::Example<> get(std::size_t index) override {
    sample_line = __LINE__ + 1;
    throw std::out_of_range("bad sample " + std::to_string(index));
  }
  torch::optional<std::size_t> size() const override { return 4; }
};

void read_with_workers(std::size_t workers) {
  auto loader = torch::data::make_data_loader(
      FailingDataset().map(torch::data::transforms::Stack<>()),
      torch::data::DataLoaderOptions().batch_size(2).workers(workers));
  for (auto& batch : *loader) {
    static_cast<void>(batch);
  }
}

}  // namespace
}  // namespace sample

namespace mishap::collector {
namespace {

using sample::caught;

class TorchErrors : public testing::Test {
 protected:
  void SetUp() override { register_torch_translators(); }

  std::span<const ChainEntry> describe(const std::exception_ptr& error) {
    chain_->describe(error);
    return chain_->entries();
  }

  static Frame first_in_app(const ChainEntry& entry) {
    if (entry.site) {
      for (const Frame& frame : symbolize(entry.site->trace).frames) {
        if (frame.in_app) {
          return frame;
        }
      }
    }
    return {};
  }

 private:
  ThrowCaptureScope scope_;
  std::unique_ptr<ExceptionChain> chain_ = std::make_unique<ExceptionChain>();
};

TEST_F(TorchErrors, ThrownInsideLibTorchAreSeenByTheHook) {
  EXPECT_TRUE(hook_is_live());
}

TEST_F(TorchErrors, KeepTheirTypeAndLeadToTheLineThatCalledLibTorch) {
  const auto entries = describe(caught(sample::loss_with_label_out_of_range));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].type, "c10::IndexError");
  const Frame frame = first_in_app(entries[0]);
  EXPECT_NE(frame.function.find("loss_with_label_out_of_range"),
            std::string_view::npos)
      << frame.function;
  EXPECT_EQ(frame.line, sample::loss_line);
}

TEST_F(TorchErrors, HaveTheirBacktraceApartFromTheMessage) {
  const auto entries = describe(caught(sample::loss_with_label_out_of_range));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].message, "Target 7 is out of bounds.");
  EXPECT_NE(entries[0].native_backtrace.find("frame #0"),
            std::string_view::npos);
}

TEST_F(TorchErrors, BeginTheirStackBelowTheFunctionsThatOnlyThrow) {
  const auto entries = describe(caught([] { TORCH_CHECK(false, "checked"); }));
  ASSERT_EQ(entries.size(), 1U);
  ASSERT_TRUE(entries[0].site.has_value());
  const auto stack = symbolize(entries[0].site->trace);
  EXPECT_GE(stack.stripped, 1U);
  ASSERT_FALSE(stack.frames.empty());
  EXPECT_TRUE(stack.frames[0].in_app) << stack.frames[0].function;
}

TEST_F(TorchErrors, OfAWorkerNameItsOwnErrorThreadAndLineAsTheCause) {
  const auto entries = describe(caught([] { sample::read_with_workers(1); }));
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].type, "torch::data::WorkerException");
  EXPECT_EQ(entries[1].type, "std::out_of_range");
  EXPECT_TRUE(entries[1].message.starts_with("bad sample "));
  ASSERT_TRUE(entries[0].site && entries[1].site);
  EXPECT_EQ(entries[0].site->thread_id, gettid());
  EXPECT_NE(entries[1].site->thread_id, gettid());
  EXPECT_EQ(first_in_app(entries[1]).line, sample::sample_line);
}

TEST_F(TorchErrors, OfALoaderWithoutWorkersStayAsTheyAre) {
  const auto entries = describe(caught([] { sample::read_with_workers(0); }));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].type, "std::out_of_range");
  EXPECT_EQ(entries[0].site->thread_id, gettid());
}

// G9. Without -fopenmp a caller's own region is serial, so no worker can throw.
TEST_F(TorchErrors, OfAParallelRegionKeepTheThrowOfTheirThread) {
  const auto entries = describe(caught([] {
    at::parallel_for(0, 8, 1, [](std::int64_t begin, std::int64_t end) {
      if (end == 8) throw std::out_of_range("from " + std::to_string(begin));
    });
  }));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].type, "std::out_of_range");
  ASSERT_TRUE(entries[0].site);
#ifdef _OPENMP
  EXPECT_NE(entries[0].site->thread_id, gettid());
#else
  EXPECT_EQ(entries[0].site->thread_id, gettid());
#endif
}

TEST_F(TorchErrors, CanBeQuietAndKeepTheirThrowSite) {
  quiet_c10_errors();
  const auto entries = describe(caught(sample::loss_with_label_out_of_range));
  c10::SetStackTraceFetcher([] { return c10::get_backtrace(); });
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].message, "Target 7 is out of bounds.");
  EXPECT_EQ(entries[0].native_backtrace.find("frame #"),
            std::string_view::npos);
  EXPECT_EQ(first_in_app(entries[0]).line, sample::loss_line);
}

}  // namespace
}  // namespace mishap::collector
