#include <mishap/trainer/harness/capture/kept_threads.h>

#include <cstddef>

namespace mishap {

KeptThreads::KeptThreads(std::span<const collector::RecordThreadStack> threads)
    : threads_(threads.begin(), threads.end()) {
  std::size_t frames = 0;
  std::size_t text = 0;
  for (const collector::RecordThreadStack& thread : threads) {
    frames += thread.stack.frames.size();
    text += thread.name.size() + thread.state.size();
  }
  // Views point into both: they must not move.
  frames_.reserve(frames);
  texts_.reserve(text);
  const auto keep = [this](std::string_view part) {
    const std::size_t begin = texts_.size();
    texts_ += part;
    return std::string_view(texts_).substr(begin);
  };
  for (collector::RecordThreadStack& thread : threads_) {
    thread.name = keep(thread.name);
    thread.state = keep(thread.state);
    const std::size_t begin = frames_.size();
    frames_.insert(frames_.end(), thread.stack.frames.begin(),
                   thread.stack.frames.end());
    thread.stack.frames = std::span(frames_).subspan(begin);
  }
}

}  // namespace mishap
