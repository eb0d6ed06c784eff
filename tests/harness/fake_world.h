#pragma once

#include <mishap/trainer/guard/guarded_call.h>
#include <mishap/trainer/harness/contract/world.h>
#include <mishap/trainer/harness/harness.h>

#include <memory>
#include <string>
#include <vector>

namespace mishap::testing {

/// A world without LibTorch: an engine of forty lines with two callbacks and a
/// logger, whose hooks only note that they ran.
class FakeWorld : public World {
 public:
  static constexpr int kSteps = 2;

  void call(std::string_view entry_point,
            const HarnessOptions& options) override {
    run_with_harness(options, [&](const GuardOptions& guard) {
      guarded_call(entry_point, guard, [&](Run& run) { body(run); });
    });
  }

  Journal& journal() override { return journal_; }
  std::vector<Component> components() const override { return callbacks_; }
  std::vector<Component> loggers() const override { return {logger_}; }

 protected:
  /// A hook of a callback; a subclass misbehaves here.
  virtual void on_hook(Run&, Hook, Component) {}

 private:
  void hook(Run& run, Hook hook, Component component) {
    run.call(hook, component, [&] {
      journal_.note(component, hook);
      on_hook(run, hook, component);
    });
  }

  void all(Run& run, Hook which) {
    for (const Component callback : callbacks_) {
      hook(run, which, callback);
    }
  }

  void set_up(Run& run) {
    for (const Component callback : callbacks_) {
      run.owe(DutyKind::kTell, callback, [this, callback](Run& failed) {
        journal_.note_exception(callback, failed.event_for(callback));
      });
    }
    run.call(Hook::kExperiment, logger_, [&] {
      journal_.note(logger_, Hook::kExperiment);
      run.owe(DutyKind::kFinalize, logger_, [this](Run& ended) {
        journal_.note_final(logger_, ended.final_word());
      });
    });
    run.set_stage(Stage::kSetup);
    for (const Component callback : callbacks_) {
      run.call(Hook::kSetup, callback, [&] {
        run.owe(DutyKind::kTeardown, callback, [this, callback](Run& ended) {
          journal_.note(callback, Hook::kTeardown);
          on_hook(ended, Hook::kTeardown, callback);
        });
        journal_.note(callback, Hook::kSetup);
        on_hook(run, Hook::kSetup, callback);
      });
    }
  }

  void body(Run& run) {
    set_up(run);
    run.set_stage(Stage::kTrain);
    all(run, Hook::kOnTrainStart);
    for (int step = 0; step < kSteps; ++step) {
      run.set_step(step);
      all(run, Hook::kOnTrainBatchStart);
      all(run, Hook::kOnTrainBatchEnd);
    }
    all(run, Hook::kOnTrainEnd);
  }

  Journal journal_;
  std::vector<Component> callbacks_{Component::named("callback.First"),
                                    Component::named("callback.Second")};
  Component logger_ = Component::named("logger.Fake");
};

}  // namespace mishap::testing
