#include <mishap/collector/crash/crash_claim.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace mishap::collector::detail {
namespace {

constinit std::atomic<std::int32_t> owner{0};
constinit std::atomic<std::int32_t> owner_process{0};
constinit std::atomic<std::uintptr_t> owner_frame{0};
constinit std::atomic<bool> told{false};

void take(std::uintptr_t frame, CrashClaim::Reach reach) noexcept {
  owner_process.store(getpid());
  owner_frame.store(reach == CrashClaim::Reach::kThread ? UINTPTR_MAX : frame);
  told.store(false);
}

}  // namespace

CrashClaim::Answer CrashClaim::make(std::uintptr_t frame,
                                    Reach reach) noexcept {
  constexpr timespec kPause{0, 10'000'000};
  constexpr int kTries = 6'000;
  const std::int32_t self = gettid();
  for (int i = 0;; ++i) {
    std::int32_t current = 0;
    if (owner.compare_exchange_strong(current, self)) {
      take(frame, reach);
      return Answer::kFirst;
    }
    if (current == self) {
      // Its stack grows downwards: a handler that is not below the one that
      // made the claim follows one that was left by siglongjmp().
      if (frame < owner_frame.load()) {
        return told.load() ? Answer::kTold : Answer::kNested;
      }
      take(frame, reach);
      return Answer::kFirst;
    }
    // A forked child has its parent's claim, but not the thread.
    if ((i >= kTries || owner_process.load() != getpid()) &&
        owner.compare_exchange_strong(current, self)) {
      take(frame, reach);
      return Answer::kFirst;
    }
    nanosleep(&kPause, nullptr);
  }
}

void CrashClaim::tell_done() noexcept { told.store(true); }

void CrashClaim::release() noexcept {
  told.store(false);
  owner.store(0);
}

}  // namespace mishap::collector::detail
