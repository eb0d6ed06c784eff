#include <mishap/collector/crash/black_box.h>

#include <algorithm>

namespace mishap::collector {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
// What is read after it was stored after it: a reader that then finds the same
// sequence as before has read a whole one.
constexpr auto kAcquire = std::memory_order_acquire;
// A writer at work laps a reader; one that goes on for ever does not keep it.
constexpr int kTries = 8;

}  // namespace

BoxPlace BlackBox::Where::load() const noexcept {
  return {BoxWhat::unpacked(what.load(kAcquire)), epoch.load(kAcquire),
          batch.load(kAcquire), step.load(kAcquire)};
}

std::optional<BoxPlace> BlackBox::place() const noexcept {
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t current = current_.load(kAcquire);
    if (current == 0) return std::nullopt;
    const Crumb& crumb = crumbs_[current % kCrumbs];
    const bool is_resumed = (current & kResumed) != 0;
    if (!is_resumed && crumb.sequence.load(kAcquire) != current) {
      continue;
    }
    const BoxPlace place =
        (is_resumed ? resumed_[current & 1U] : crumb.where).load();
    // The writer stores to this copy again only after it told of another.
    if (current_.load(kRelaxed) == current) return place;
  }
  return std::nullopt;
}

std::uint64_t BlackBox::newest() const noexcept {
  std::uint64_t newest = 0;
  for (const Crumb& crumb : crumbs_) {
    newest = std::max(newest, crumb.sequence.load(kAcquire));
  }
  return newest;
}

std::uint64_t BlackBox::pulse() const noexcept { return newest(); }

std::size_t BlackBox::read(std::span<BoxCrumb> out) const noexcept {
  const std::uint64_t last = newest();
  const std::uint64_t count =
      std::min<std::uint64_t>({last, kCrumbs, out.size()});
  std::size_t size = 0;
  for (std::uint64_t older = count; older > 0; --older) {
    const std::uint64_t sequence = last - older + 1;
    const Crumb& crumb = crumbs_[sequence % kCrumbs];
    if (crumb.sequence.load(kAcquire) != sequence) continue;
    const std::uint64_t end = crumb.end.load(kAcquire);
    BoxCrumb found{.sequence = sequence,
                   .what = crumb.where.load().what,
                   .begin_ticks = crumb.begin_ticks.load(kAcquire),
                   .end_ticks = std::nullopt};
    if ((end & kBefore) != 0) {
      const std::uint64_t next = end & ~kBefore;
      const Crumb& follower = crumbs_[next % kCrumbs];
      const std::uint64_t begin = follower.begin_ticks.load(kRelaxed);
      found.end_ticks =
          follower.sequence.load(kRelaxed) == next && begin > found.begin_ticks
              ? begin
              : found.begin_ticks;
    } else if (end != 0) {
      found.end_ticks = end;
    }
    if (crumb.sequence.load(kRelaxed) == sequence) out[size++] = found;
  }
  return size;
}

std::uint64_t BlackBox::last_ticks() const noexcept {
  std::uint64_t newest = 0;
  for (const Crumb& crumb : crumbs_) {
    const std::uint64_t end = crumb.end.load(kRelaxed);
    newest = std::max(newest, crumb.begin_ticks.load(kRelaxed));
    if ((end & kBefore) == 0) newest = std::max(newest, end);
  }
  return newest;
}

}  // namespace mishap::collector
