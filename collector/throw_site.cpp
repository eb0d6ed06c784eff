#include <mishap/collector/clock.h>
#include <mishap/collector/exception_object.h>
#include <mishap/collector/resolve/capture.h>
#include <mishap/collector/throw_site.h>
#include <mishap/collector/throw_store.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace mishap::collector {
namespace {

constexpr std::size_t kSlots = 512;
constexpr std::size_t kProbes = 16;
constexpr std::size_t kMaxUnderWay = 4;

// What a reader without a hold on the object may see: it is read again if its
// version has changed meanwhile, which is odd while the owner writes.
struct Glimpse {
  std::atomic<std::uint32_t> version = 0;
  std::atomic<const std::type_info*> type = nullptr;
  std::atomic<std::int32_t> thread_id = 0;
  std::atomic<std::int64_t> steady_nanos = 0;
  std::atomic<std::uint32_t> size = 0;
  std::array<std::atomic<std::uintptr_t>, LiveThrow::kMaxFrames> addresses{};

  // The order of the fields is kept by every single access: sanitizers do not
  // know fences.
  void show(const ThrowSite& site) noexcept {
    constexpr auto kAfter = std::memory_order_release;
    const std::uint32_t before = version.load(std::memory_order_relaxed);
    version.store(before + 1, std::memory_order_relaxed);
    type.store(site.type, kAfter);
    thread_id.store(site.thread_id, kAfter);
    steady_nanos.store(site.steady_nanos, kAfter);
    const std::size_t shown =
        std::min<std::size_t>(site.trace.size, addresses.size());
    for (std::size_t i = 0; i < shown; ++i) {
      addresses[i].store(site.trace.addresses[i], kAfter);
    }
    size.store(static_cast<std::uint32_t>(shown), kAfter);
    version.store(before + 2, kAfter);
  }

  bool read(LiveThrow& out) const noexcept {
    constexpr auto kBefore = std::memory_order_acquire;
    const std::uint32_t before = version.load(kBefore);
    out.type = type.load(kBefore);
    out.thread_id = thread_id.load(kBefore);
    out.steady_nanos = steady_nanos.load(kBefore);
    out.size = std::min<std::size_t>(size.load(kBefore), addresses.size());
    for (std::size_t i = 0; i < out.size; ++i) {
      out.addresses[i] = addresses[i].load(kBefore);
    }
    return before % 2 == 0 && version.load(std::memory_order_relaxed) == before;
  }
};

struct Slot {
  ThrowSite site;
  Glimpse glimpse;
  detail::Destructor destroy = nullptr;
  // Orders a reader's copy before the next writer. The exception's reference
  // count does so already, but inside libstdc++, where TSan cannot see it.
  std::atomic<std::uint32_t> reads = 0;
};

// The keys lie apart from the sites so that probing touches few cache lines.
// A slot belongs to one exception object from its throw to its destruction;
// nobody writes to it in between, so readers need no lock.
constinit std::array<std::atomic<const void*>, kSlots> keys{};
constinit std::array<Slot, kSlots> slots{};
constexpr char kClaimed = 0;

constinit std::atomic<int> scopes = 0;
constinit std::atomic<std::uint64_t> dropped = 0;
constinit std::atomic<ThrowSampler> current_sampler = nullptr;

// Plain data, so that a throw finds it before and after everything else of its
// thread.
struct ThisThread {
  std::int32_t id = 0;
  std::array<char, ThrowSite::kThreadNameBytes> name{};
  // A throw inside the capture itself must not start another capture.
  bool busy = false;
  // What was thrown last while so many exceptions were under way.
  std::array<const void*, kMaxUnderWay> under_way{};
};
[[gnu::tls_model(
    "initial-exec")]] constinit thread_local ThisThread this_thread{};

// The two system calls would cost a tenth of a throw.
void identify_thread() {
  if (this_thread.id == 0) {
    this_thread.id = gettid();
    prctl(PR_GET_NAME, this_thread.name.data());
  }
}

void forget_thread() { this_thread.id = 0; }

std::size_t home_slot(const void* object) {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  return static_cast<std::size_t>((address >> 4U) * 0x9E3779B97F4A7C15ULL >>
                                  55U);
}

constexpr std::size_t kNoSlot = kSlots;

std::size_t slot_of(const void* object) {
  const std::size_t home = home_slot(object);
  for (std::size_t i = 0; i < kProbes; ++i) {
    const std::size_t slot = (home + i) % kSlots;
    if (keys[slot].load(std::memory_order_acquire) == object) {
      return slot;
    }
  }
  return kNoSlot;
}

std::size_t claim_slot(const void* object) {
  const std::size_t home = home_slot(object);
  for (std::size_t i = 0; i < kProbes; ++i) {
    const std::size_t slot = (home + i) % kSlots;
    const void* free = nullptr;
    if (keys[slot].compare_exchange_strong(free, &kClaimed,
                                           std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
      return slot;
    }
  }
  return kNoSlot;
}

void forget_and_destroy(void* object) {
  detail::Destructor destroy = nullptr;
  const std::size_t slot = slot_of(object);
  if (slot != kNoSlot) {
    destroy = slots[slot].destroy;
    keys[slot].store(nullptr, std::memory_order_release);
  }
  if (destroy != nullptr) {
    destroy(object);
  }
}

// The object that unwinds the stack while `object` is thrown.
const void* note_under_way(const void* object) {
  const auto depth = static_cast<std::size_t>(std::uncaught_exceptions());
  if (depth < kMaxUnderWay) {
    this_thread.under_way[depth] = object;
  }
  return depth > 0 && depth <= kMaxUnderWay ? this_thread.under_way[depth - 1]
                                            : nullptr;
}

void fill(ThrowSite& site, const std::type_info* type, const void* first) {
  capture_stack_from(site.trace, first);
  site.type = type;
  identify_thread();
  site.thread_id = this_thread.id;
  site.thread_name = this_thread.name;
  site.steady_nanos = Clock::system().steady_nano();
  site.sample.fill(std::byte{0});
  const ThrowSampler sampler = current_sampler.load(std::memory_order_acquire);
  if (sampler != nullptr) {
    sampler(site.sample);
  }
}

}  // namespace

ThrowCaptureScope::ThrowCaptureScope() noexcept {
  warm_up_capture();
  static const bool forgets_at_fork =
      pthread_atfork(nullptr, nullptr, forget_thread) == 0;
  static_cast<void>(forgets_at_fork);
  scopes.fetch_add(1, std::memory_order_relaxed);
}

ThrowCaptureScope::~ThrowCaptureScope() {
  scopes.fetch_sub(1, std::memory_order_relaxed);
}

bool throw_capture_enabled() noexcept {
  return scopes.load(std::memory_order_relaxed) > 0;
}

std::optional<ThrowSite> find_throw_site(
    const std::exception_ptr& error) noexcept {
  const void* object = exception_object(error);
  const std::size_t slot = object == nullptr ? kNoSlot : slot_of(object);
  if (slot == kNoSlot) {
    return std::nullopt;
  }
  std::optional<ThrowSite> found(slots[slot].site);
  slots[slot].reads.fetch_add(1, std::memory_order_release);
  return found;
}

std::size_t live_throws(std::span<LiveThrow> out) noexcept {
  std::size_t size = 0;
  for (std::size_t i = 0; i < kSlots && size < out.size(); ++i) {
    const void* object = keys[i].load(std::memory_order_acquire);
    if (object == nullptr || object == &kClaimed) {
      continue;
    }
    LiveThrow& live = out[size];
    live.object = object;
    if (slots[i].glimpse.read(live) &&
        keys[i].load(std::memory_order_relaxed) == object) {
      ++size;
    }
  }
  return size;
}

std::uint64_t dropped_throw_sites() noexcept {
  return dropped.load(std::memory_order_relaxed);
}

ThrowSampler set_throw_sampler(ThrowSampler sampler) noexcept {
  return current_sampler.exchange(sampler, std::memory_order_acq_rel);
}

namespace detail {

Destructor record_throw(void* object, const std::type_info* type,
                        Destructor destroy,
                        const void* return_address) noexcept {
  if (this_thread.busy || !throw_capture_enabled()) {
    return destroy;
  }
  const std::size_t slot = claim_slot(object);
  if (slot == kNoSlot) {
    dropped.fetch_add(1, std::memory_order_relaxed);
    return destroy;
  }
  this_thread.busy = true;
  static_cast<void>(slots[slot].reads.load(std::memory_order_acquire));
  slots[slot].destroy = destroy;
  fill(slots[slot].site, type, return_address);
  slots[slot].site.unwinding = note_under_way(object);
  slots[slot].glimpse.show(slots[slot].site);
  keys[slot].store(object, std::memory_order_release);
  this_thread.busy = false;
  return forget_and_destroy;
}

}  // namespace detail
}  // namespace mishap::collector
