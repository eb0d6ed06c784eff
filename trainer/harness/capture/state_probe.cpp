#include <mishap/trainer/harness/capture/state_probe.h>

#include <algorithm>
#include <atomic>

namespace mishap {
namespace {

constexpr std::size_t kMaxProbes = 8;
std::array<std::atomic<StateProbe*>, kMaxProbes> probes;

}  // namespace

std::string_view StateSample::keep(std::string_view text) noexcept {
  const std::size_t size = std::min(text.size(), text_.size() - text_size_);
  char* begin = text_.data() + text_size_;
  std::copy_n(text.data(), size, begin);
  text_size_ += size;
  return {begin, size};
}

void register_state_probe(StateProbe& probe) noexcept {
  for (std::atomic<StateProbe*>& slot : probes) {
    StateProbe* none = nullptr;
    if (slot.load() == &probe || slot.compare_exchange_strong(none, &probe)) {
      return;
    }
  }
}

void probe_on_enter(Run& run) noexcept {
  for (const std::atomic<StateProbe*>& slot : probes) {
    if (StateProbe* probe = slot.load()) {
      probe->on_enter(run);
    }
  }
}

void probe_hang(std::int32_t thread_id, StateSample& out) noexcept {
  for (const std::atomic<StateProbe*>& slot : probes) {
    if (StateProbe* probe = slot.load()) {
      probe->sample_hang(thread_id, out);
    }
  }
}

void probe_state(const Run& run, const collector::ExceptionChain& chain,
                 StateSample& out) noexcept {
  for (const std::atomic<StateProbe*>& slot : probes) {
    if (StateProbe* probe = slot.load()) {
      probe->sample(run, chain, out);
    }
  }
}

}  // namespace mishap
