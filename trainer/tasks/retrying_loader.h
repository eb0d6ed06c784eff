#pragma once

#include <mishap/trainer/engine/loader.h>

namespace mishap::tasks {

/// Asks another loader again, up to three times in all, when it fails with a
/// standard exception: a read over a network that fails now and then. An
/// interrupt is no such failure. Each read is the fault point
/// `user/gauntlet/read`, at which a run may recover.
class RetryingLoader final : public Loader {
 public:
  explicit RetryingLoader(LoaderPtr below) : below_(std::move(below)) {}

  void start(std::int64_t pass) override { below_->start(pass); }
  void start_at(std::int64_t pass, std::int64_t batches) override {
    below_->start_at(pass, batches);
  }
  std::optional<Batch> next() override;
  std::optional<std::int64_t> size() const override { return below_->size(); }
  State state() const override { return below_->state(); }
  void load_state(const State& state) override { below_->load_state(state); }

 private:
  LoaderPtr below_;
};

}  // namespace mishap::tasks
