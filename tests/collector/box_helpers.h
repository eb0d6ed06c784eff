#pragma once

#include <mishap/collector/crash/box_names.h>
#include <mishap/collector/crash/box_writer.h>
#include <mishap/collector/pending_slot.h>

namespace mishap::collector::samples {

inline constexpr BoxWhat kTrainingStep{.hook = 1, .component = 2, .stage = 3};
inline constexpr BoxWhat kTeardown{.hook = 4, .component = 5, .stage = 6};

/// Names the two above in the slot.
inline void name_samples(PendingSlot& slot) {
  using Kind = BoxNames::Kind;
  if (BoxNames* const names = slot.names()) {
    names->add(Kind::kHook, kTrainingStep.hook, "training_step");
    names->add(Kind::kComponent, kTrainingStep.component, "module");
    names->add(Kind::kStage, kTrainingStep.stage, "train");
    names->add(Kind::kHook, kTeardown.hook, "teardown");
    names->add(Kind::kComponent, kTeardown.component, "callback.Spy");
    names->add(Kind::kStage, kTeardown.stage, "teardown");
  }
}

/// Enters a hook as the guard does, by a writer of its own.
inline void enter(PendingSlot& slot, const BoxPlace& place) {
  name_samples(slot);
  BoxWriter writer;
  writer.attach(slot.box());
  writer.enter(place);
}

}  // namespace mishap::collector::samples
