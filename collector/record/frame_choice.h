#pragma once

#include <mishap/collector/record/failure.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace mishap::collector {

/// Which frames of a stack that is too long stay in a record: those of the
/// program, then the innermost of the others. LibTorch alone puts some 30
/// frames between a throw and the line that called it. Async-signal-safe.
class FrameChoice {
 public:
  FrameChoice(std::span<const RecordFrame> frames, std::size_t limit) noexcept
      : size_(std::min(frames.size(), limit)) {
    const auto in_app =
        static_cast<std::size_t>(std::ranges::count_if(frames, is_in_app));
    const std::size_t others =
        std::min({frames.size() - in_app, size_, kInnermostOthers});
    in_app_left_ = std::min(in_app, size_ - others);
    others_left_ = size_ - in_app_left_;
  }

  std::size_t size() const noexcept { return size_; }

  /// To be asked of each frame once, innermost first.
  bool takes(const RecordFrame& frame) noexcept {
    std::size_t& left = is_in_app(frame) ? in_app_left_ : others_left_;
    return left > 0 && left-- > 0;
  }

 private:
  static bool is_in_app(const RecordFrame& frame) noexcept {
    return frame.in_app.value_or(false);
  }

  // These stay in any case: they say what threw.
  static constexpr std::size_t kInnermostOthers = 4;

  std::size_t size_;
  std::size_t in_app_left_ = 0;
  std::size_t others_left_ = 0;
};

}  // namespace mishap::collector
