#include <mishap/trainer/engine/detail/module_state.h>
#include <mishap/trainer/engine/detail/resume_points.h>

namespace mishap::detail {

void ResumePoints::keep() {
  keeps_ = true;
  keep_here();
}

void ResumePoints::reach() {
  is_here_ = true;
  // In the middle of a window the gradients are those of this place only while
  // the run stays here.
  may_be_kept_ = progress_.in_window == 0;
  keep_here();
}

void ResumePoints::go_on() {
  // Hooks that ran here may have drawn and logged since it was reached.
  keep_here();
  is_here_ = false;
}

void ResumePoints::keep_here() {
  if (keeps_ && is_here_ && may_be_kept_) {
    kept_ = here();
    kept_->buffers = copy_of_buffers(call_.module());
  }
}

ResumePoints::Point ResumePoints::here() {
  return {progress_, metrics_.snapshot(), RandomState::of(call_.device()), {}};
}

std::optional<ResumePoints::Point> ResumePoints::point() {
  // After a late failure the optimizers are gone already.
  if (call_.run().weights() == Weights::kPartial ||
      call_.optimizers().empty()) {
    return std::nullopt;
  }
  // A hook that failed here may have drawn random numbers or logged.
  if (is_here_ && (call_.run().failure() == nullptr || !kept_)) {
    return here();
  }
  // Updates by hand inside a batch that is not done belong to no point.
  if (kept_ && kept_->progress.step == progress_.step) {
    return kept_;
  }
  return std::nullopt;
}

}  // namespace mishap::detail
