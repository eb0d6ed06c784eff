#include <mishap/collector/label/fold.h>
#include <mishap/collector/record/fold_frames.h>

namespace mishap::collector {

FoldedFrames fold_frames(std::span<RecordFrame> frames,
                         std::span<RecordRepeat> repeats) noexcept {
  const auto same = [frames](std::size_t i, std::size_t j) {
    const RecordFrame& a = frames[i];
    const RecordFrame& b = frames[j];
    return a.inlined == b.inlined && (a.function.empty() || b.function.empty()
                                          ? a.address == b.address
                                          : a.function == b.function);
  };
  FoldedFrames folded;
  for (std::size_t i = 0; i < frames.size();) {
    Fold fold;
    fold.first = i;
    if (folded.repeats < repeats.size()) {
      fold = fold_at(i, frames.size(), same);
    }
    if (fold.times > 1) {
      repeats[folded.repeats++] = {folded.frames, fold.size, fold.times};
    }
    for (std::size_t j = 0; j < fold.size; ++j) {
      frames[folded.frames++] = frames[i + j];
    }
    i += fold.size * fold.times;
  }
  return folded;
}

}  // namespace mishap::collector
