#pragma once

namespace mishap::collector {

class PendingSlot;

/// The open slots of this process, so that fork() can turn them into private
/// memory in the child.
class LiveSlots {
 public:
  /// False when there are too many. Thread-safe, not async-signal-safe.
  static bool add(PendingSlot& slot) noexcept;
  /// Async-signal-safe.
  static void remove(PendingSlot& slot) noexcept;

 private:
  static void leave_to_parent() noexcept;
};

}  // namespace mishap::collector
