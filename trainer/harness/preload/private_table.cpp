#include <mishap/trainer/harness/preload/private_table.h>
#include <sched.h>

namespace mishap::preload {

bool BusyFlag::take() noexcept {
  // Its holder is another thread, which runs: the thread that holds it takes no
  // signal's hit.
  for (int tries = 0; tries < 100'000; ++tries) {
    if (!taken_.load(std::memory_order_relaxed) &&
        !taken_.exchange(true, std::memory_order_acquire)) {
      return true;
    }
    sched_yield();
  }
  return false;
}

}  // namespace mishap::preload
