#include <mishap/collector/pending/live_slots.h>
#include <mishap/collector/pending_slot.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace mishap::collector {
namespace {

constexpr std::size_t kMaxSlots = 128;
constinit std::array<std::atomic<PendingSlot*>, kMaxSlots> slots{};

}  // namespace

bool LiveSlots::add(PendingSlot& slot) noexcept {
  static const bool watched =
      pthread_atfork(nullptr, nullptr, &LiveSlots::leave_to_parent) == 0;
  if (!watched) return false;
  for (auto& entry : slots) {
    PendingSlot* expected = nullptr;
    if (entry.compare_exchange_strong(expected, &slot)) return true;
  }
  return false;
}

void LiveSlots::remove(PendingSlot& slot) noexcept {
  for (auto& entry : slots) {
    PendingSlot* expected = &slot;
    if (entry.compare_exchange_strong(expected, nullptr)) return;
  }
}

void LiveSlots::leave_to_parent() noexcept {
  for (auto& entry : slots) {
    if (PendingSlot* const slot = entry.exchange(nullptr)) {
      slot->leave_to_parent();
    }
  }
}

}  // namespace mishap::collector
