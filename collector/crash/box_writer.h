#pragma once

#include <mishap/collector/crash/black_box.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace mishap::collector {

/// Keeps a black box current: no system call, no lock, no allocation, and at
/// most one reading of the clock for a call that is quick.
///
/// The end of a call is read from the clock where the last call of that sort
/// was long. Where it was quick, the next call began within a microsecond or
/// so, and its beginning tells the end as well; reading the clock once more
/// would double what a hook costs.
class BoxWriter {
 public:
  /// From here on writes to `box`, as the one that does. What is open stays so.
  void attach(BlackBox& box) noexcept { box_ = &box; }

  /// A hook call begins.
  void enter(const BoxPlace& place) noexcept {
    const std::uint64_t ticks = ticks_now();
    is_quick_[left_ % kSorts] = ticks - left_ < kAboutOneMicrosecond;
    const std::uint64_t sequence = ++calls_;
    BlackBox::Crumb& crumb = crumb_at(sequence);
    crumb.sequence.store(0, kRelaxed);
    crumb.where.store(place);
    crumb.begin_ticks.store(ticks, std::memory_order_release);
    crumb.end.store(0, std::memory_order_release);
    crumb.sequence.store(sequence, std::memory_order_release);
    box_->current_.store(sequence, std::memory_order_release);
    if (depth_ < kMaxDepth) open_[depth_] = sequence;
    ++depth_;
  }

  /// The innermost call of that hook and component that is still open returned.
  /// Calls that an exception left never do: they are passed over.
  void leave(BoxWhat what) noexcept {
    std::size_t open = std::min(depth_, kMaxDepth);
    while (open > 0 && !is_call(open_[open - 1], what)) {
      --open;
    }
    if (open == 0) [[unlikely]] {
      // So deep that it was not followed, or so old that its crumb is gone.
      if (depth_ > 0) --depth_;
      return;
    }
    depth_ = open - 1;
    BlackBox::Crumb& crumb = crumb_at(open_[depth_]);
    const std::uint64_t sort = (what.hook ^ what.component * 37U) % kSorts;
    left_ = (crumb.begin_ticks.load(kRelaxed) & ~(kSorts - 1)) | sort;
    crumb.end.store(
        is_quick_[sort] ? BlackBox::kBefore | (calls_ + 1) : ticks_now(),
        kRelaxed);
  }

  /// The run is at that place again, in which another call ran.
  void resume(const BoxPlace& place) noexcept {
    const std::uint64_t told = BlackBox::kResumed | ++told_;
    box_->resumed_[told & 1U].store(place);
    box_->current_.store(told, std::memory_order_release);
  }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  // Calls that are deeper are not followed: they never return.
  static constexpr std::size_t kMaxDepth = 16;
  static constexpr std::uint64_t kSorts = 256;

  BlackBox::Crumb& crumb_at(std::uint64_t sequence) const noexcept {
    return box_->crumbs_[sequence % BlackBox::kCrumbs];
  }
  // Its crumb is still there, and it is of that hook and component.
  bool is_call(std::uint64_t sequence, BoxWhat what) const noexcept {
    const BlackBox::Crumb& crumb = crumb_at(sequence);
    return crumb.sequence.load(kRelaxed) == sequence &&
           static_cast<std::uint32_t>(crumb.where.what.load(kRelaxed)) ==
               what.call();
  }

  BlackBox* box_ = nullptr;
  std::uint64_t calls_ = 0;
  std::uint64_t told_ = 0;
  std::size_t depth_ = 0;
  // When the call began that returned last, and in the last bits its sort.
  std::uint64_t left_ = 0;
  std::array<std::uint64_t, kMaxDepth> open_{};
  std::array<bool, kSorts> is_quick_{};
};

}  // namespace mishap::collector
