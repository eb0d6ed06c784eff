#include <mishap/faultinject/firing_label.h>
#include <mishap/faultinject/fixed_text.h>

#include <array>
#include <atomic>
#include <cstring>
#include <type_traits>

namespace mishap::faultinject {
namespace {

static_assert(std::is_trivially_copyable_v<FiringLabel>);
static_assert(sizeof(FiringLabel) % sizeof(std::uint64_t) == 0);

/// A label that is written and read on any thread without a lock: readers try
/// again while the version is odd or has moved on.
class SharedLabel {
 public:
  void store(const FiringLabel& label) noexcept {
    std::uint64_t version = version_.load(std::memory_order_relaxed) & ~kOdd;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (version_.compare_exchange_weak(version, version + 1,
                                         std::memory_order_acquire)) {
        Words words;
        std::memcpy(words.data(), &label, sizeof label);
        for (std::size_t i = 0; i < words.size(); ++i) {
          words_[i].store(words[i], std::memory_order_release);
        }
        version_.store(version + 2, std::memory_order_release);
        return;
      }
      version &= ~kOdd;
    }
  }

  bool load(FiringLabel& label) const noexcept {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const std::uint64_t version = version_.load(std::memory_order_acquire);
      if (version == 0) return false;
      if ((version & kOdd) != 0) continue;
      Words words;
      for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = words_[i].load(std::memory_order_acquire);
      }
      if (version_.load(std::memory_order_relaxed) != version) continue;
      std::memcpy(static_cast<void*>(&label), words.data(), sizeof label);
      return true;
    }
    return false;
  }

 private:
  static constexpr std::uint64_t kOdd = 1;
  // Bounded: after a fork the other writer may not exist any more.
  static constexpr int kAttempts = 1 << 20;
  using Words = std::array<std::uint64_t, sizeof(FiringLabel) / 8>;

  std::atomic<std::uint64_t> version_{0};
  std::array<std::atomic<std::uint64_t>, sizeof(FiringLabel) / 8> words_{};
};

constinit SharedLabel process_label;
constinit std::atomic<std::uint64_t> sequence{0};
constinit thread_local FiringLabel thread_label;

void write_spec(FixedText& text, std::string_view point, std::uint64_t hit,
                std::string_view action) noexcept {
  text << point << "=";
  if (hit > 1) text << hit - 1 << "*off->";
  text << "1*" << action;
}

}  // namespace

std::string firing_spec(std::string_view point, std::uint64_t hit,
                        std::string_view action) {
  char buffer[sizeof(FiringLabel::spec)];
  FixedText text(buffer);
  write_spec(text, point, hit, action);
  return std::string(text.view());
}

void publish_label(std::string_view point, std::uint64_t hit,
                   std::string_view action, std::uint64_t seed,
                   std::int64_t step, const void* owner) noexcept {
  FiringLabel& label = thread_label;
  FixedText point_text(label.point);
  FixedText action_text(label.action);
  FixedText spec_text(label.spec);
  point_text << point;
  action_text << action;
  write_spec(spec_text, point, hit, action);
  label.hit = hit;
  label.seed = seed;
  label.step = step;
  label.owner = owner;
  label.truncated = point_text.cut() || action_text.cut() || spec_text.cut();
  label.sequence = sequence.fetch_add(1, std::memory_order_relaxed) + 1;
  process_label.store(label);
}

const FiringLabel* last_fired_on_this_thread() noexcept {
  return thread_label.sequence == 0 ? nullptr : &thread_label;
}

bool last_fired(FiringLabel& label) noexcept {
  return process_label.load(label);
}

std::uint64_t firing_sequence() noexcept {
  return sequence.load(std::memory_order_relaxed);
}

}  // namespace mishap::faultinject
