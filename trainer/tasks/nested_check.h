#pragma once

#include <mishap/trainer/engine/callback.h>

#include <memory>

namespace mishap::tasks {

/// At the end of each epoch validates a small module of its own with a trainer
/// of its own: a run inside the run.
class NestedCheck final : public Callback {
 public:
  NestedCheck();
  ~NestedCheck() override;

  void on_train_epoch_end(Session& session) override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace mishap::tasks
