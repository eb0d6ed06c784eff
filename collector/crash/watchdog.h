#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace mishap::collector {

/// Work of one thread whose progress is watched.
///
///     class Epochs final : public Watched {
///       void on_hang(const Hang& hang) noexcept override { ... }
///     } work;
///     work.watch(std::chrono::minutes(5), nullptr);
///     ... work.beat(); ...                      // one increment
///     work.unwatch();
///
/// One thread of the process watches all of them; it lives as long as anything
/// is watched and has all signals blocked. Time in which the process was
/// stopped, by SIGSTOP, a debugger, or a suspended machine, does not count: the
/// watching thread was not running then either.
class Watched {
 public:
  struct Hang {
    /// How long nothing has happened.
    std::chrono::nanoseconds idle{0};
  };

  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  /// Progress. By the thread that does the work.
  void beat() noexcept {
    beats_.store(beats_.load(std::memory_order_relaxed) + 1,
                 std::memory_order_release);
  }

  /// How many there were. What was stored in front of the last one by the
  /// thread that does the work is visible to the caller. From any thread.
  std::uint64_t beats() const noexcept {
    return beats_.load(std::memory_order_acquire);
  }

  /// Watches from now on: on_hang() is called when there has been no beat for
  /// `after`, a quarter of it more at the most, and again only after a beat.
  /// While other work is watched whose `outer` this is, this one waits for that
  /// and is not judged. False when no thread could be had for it.
  bool watch(std::chrono::nanoseconds after, const Watched* outer) noexcept;

  /// Returns when on_hang() does not run and will not. Not from on_hang().
  void unwatch() noexcept;

 protected:
  Watched() noexcept = default;
  virtual ~Watched() { unwatch(); }

  /// On the watching thread. Whatever hangs may hold any lock: do not take one
  /// without bound, and use the heap only where that may hang too.
  virtual void on_hang(const Hang& hang) noexcept = 0;

 private:
  friend class Watchdog;

  std::atomic<std::uint64_t> beats_{0};
  // The rest under the watchdog's lock.
  bool watched_ = false;
  Watched* older_ = nullptr;
  const Watched* outer_ = nullptr;
  std::chrono::nanoseconds after_{0};
  std::uint64_t seen_beats_ = 0;
  std::chrono::nanoseconds idle_{0};
  bool told_ = false;
};

}  // namespace mishap::collector
