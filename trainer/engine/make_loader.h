#pragma once

#include <mishap/trainer/engine/collate.h>
#include <mishap/trainer/engine/loader.h>
#include <mishap/trainer/engine/loader_options.h>
#include <mishap/trainer/engine/pass_sampler.h>
#include <mishap/trainer/engine/patience.h>
#include <mishap/trainer/engine/torch_compat.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/guard/worker_thread.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace mishap {
namespace detail {

/// A torch::data set that yields our batches, collated on the worker's thread.
template <class Dataset>
class CollatedDataset final
    : public torch::data::datasets::BatchDataset<CollatedDataset<Dataset>,
                                                 Batch> {
 public:
  explicit CollatedDataset(Dataset dataset) : dataset_(std::move(dataset)) {}

  Batch get_batch(c10::ArrayRef<std::size_t> indices) override {
    register_worker_thread("loader");
    return collate(dataset_.get_batch(indices));
  }
  compat::DatasetSize size() const override { return dataset_.size(); }

 private:
  Dataset dataset_;
};

template <class Dataset>
class DatasetLoader final : public Loader {
 public:
  DatasetLoader(Dataset dataset, std::int64_t samples,
                const LoaderOptions& options)
      : dataset_(std::move(dataset)),
        options_(options),
        samples_(samples),
        sampler_(options, samples) {}

  void start(std::int64_t pass) override { start_at(pass, 0); }

  void start_at(std::int64_t pass, std::int64_t batches) override {
    iterator_.reset();
    // torch's loader refuses a new pass while batches of the last one are
    // still under way.
    if (!exhausted_) {
      loader_.reset();
    }
    if (!loader_) {
      loader_ =
          std::make_unique<TorchLoader>(dataset_, sampler_, torch_options());
    }
    exhausted_ = false;
    fresh_ = true;
    sampler_.set_pass(pass, batches * options_.batch_size);
    iterator_.emplace(loader_->begin());
  }

  State state() const override { return sampler_.order().state(); }
  void load_state(const State& state) override {
    sampler_.order().load_state(state);
  }

  std::optional<Batch> next() override {
    if (exhausted_) {
      return std::nullopt;
    }
    const bool more = wait_patiently(options_, [this] {
      if (!fresh_) {
        ++*iterator_;
      }
      return *iterator_ != loader_->end();
    });
    fresh_ = false;
    if (!more) {
      exhausted_ = true;
      return std::nullopt;
    }
    return std::move(**iterator_);
  }

  std::optional<std::int64_t> size() const override {
    return (samples_ + (options_.drop_last ? 0 : options_.batch_size - 1)) /
           options_.batch_size;
  }

 private:
  using Collated = CollatedDataset<Dataset>;
  using TorchLoader = torch::data::StatelessDataLoader<Collated, PassSampler>;

  torch::data::DataLoaderOptions torch_options() const {
    torch::data::DataLoaderOptions result;
    result.batch_size(static_cast<std::size_t>(options_.batch_size))
        .workers(static_cast<std::size_t>(options_.workers))
        .drop_last(options_.drop_last)
        .timeout(poll_interval(options_));
    return result;
  }

  Collated dataset_;
  LoaderOptions options_;
  std::int64_t samples_;
  PassSampler sampler_;
  std::unique_ptr<TorchLoader> loader_;
  std::optional<torch::data::Iterator<Batch>> iterator_;
  bool exhausted_ = true;
  bool fresh_ = true;
};

}  // namespace detail

/// A loader over a torch::data set of known size: of tensors, of examples, of
/// stacked examples, or of Batch. Each worker has a copy of it.
///
///     return make_loader(Images(folder), {.batch_size = 64, .workers = 2});
///
/// With workers an exception of the data set arrives as
/// torch::data::WorkerException, without as itself. While it waits for a worker
/// a signal is honoured within 100 ms. Throws InputError when an option makes
/// no sense or the size is not known.
template <class Dataset>
LoaderPtr make_loader(Dataset dataset, const LoaderOptions& options) {
  detail::check(options, "make_loader");
  const compat::DatasetSize samples = dataset.size();
  if (!samples) {
    throw InputError(
        "make_loader: the data set does not know its size; derive a class "
        "from mishap::Loader for a stream");
  }
  return std::make_unique<detail::DatasetLoader<Dataset>>(
      std::move(dataset), static_cast<std::int64_t>(*samples), options);
}

}  // namespace mishap
