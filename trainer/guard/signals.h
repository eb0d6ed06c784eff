#pragma once

#include <mishap/trainer/guard/packed_place.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace mishap::signals {

namespace detail {
/// Counts the requests of the process.
inline constinit std::atomic<std::uint32_t> arrived{0};
}  // namespace detail

/// A SIGINT or SIGTERM as its handler saw it.
struct Received {
  int signal = 0;
  /// si_code: positive from the kernel (128 is the terminal), else a process.
  int code = 0;
  /// Process that sent it, 0 when the kernel did.
  pid_t sender = 0;
  /// CLOCK_MONOTONIC at arrival, nanoseconds.
  std::int64_t steady_nanos = 0;
};

/// A run's seat in the process-wide registry: while it is held, SIGINT and
/// SIGTERM do not end the process but wait for the run's next safe point.
///
/// The first seat puts our handlers over what it finds, be it a handler that
/// the program installed since the last run: that one is still told of each
/// signal. The last seat restores what the first one found. A signal that was
/// ignored stays ignored. Two seats may be held on
/// different threads at once; each run is told of each signal. A seat does not
/// leave by itself: when to leave is a step of the guard.
class Seat {
 public:
  Seat() noexcept = default;
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  /// Thread-safe. `parent` is the seat of the run that this one is nested in,
  /// whose unanswered signals it inherits. Does nothing when already entered.
  void enter(const Seat* parent) noexcept;

  /// Gives the seat back. When it was the last one the actions that the first
  /// one found are restored before; a signal that came in, that no run honoured
  /// and that no handler of the program was told of is then raised again, so
  /// that none is swallowed.
  void leave() noexcept;

  bool entered() const noexcept { return entered_; }

  /// A signal waits for this run. One relaxed load.
  bool pending() const noexcept {
    return entered_ && detail::arrived.load(std::memory_order_relaxed) !=
                           seen_.load(std::memory_order_relaxed);
  }

  /// The signal that waits; marks it as honoured.
  Received honour() noexcept;

  /// That signal without answering it. From any thread while the seat is held;
  /// async-signal-safe.
  std::optional<Received> waiting() const noexcept;

  /// Keeps the place current for the handler. Two plain stores.
  void publish(const Place& place) noexcept {
    if (shown_ != nullptr) {
      shown_->store(place);
    }
  }

  /// What was published last; nothing when that is not known. From any thread
  /// while the seat is held.
  std::optional<Place> place() const noexcept;

  /// Where this run was when the last signal came. From any thread while the
  /// seat is held; async-signal-safe.
  Place place_at_signal() const noexcept;

 private:
  std::atomic<std::uint32_t> seen_{0};
  std::int8_t slot_ = -1;
  bool entered_ = false;
  PackedPlace* shown_ = nullptr;
};

/// What to do with a signal that arrives while no seat is held. Called in the
/// handler: must be async-signal-safe and must not return.
using OutsideAction = void (*)(const Received&);

/// Keeps the handlers installed between runs and sends what arrives there to
/// `action`. A handler that the program installs over them is its own between
/// runs. Returns false when it was already set.
bool install_outside_action(OutsideAction action) noexcept;

/// Called in the handler of a signal that asks the runs to stop, the first one
/// and not its repetitions: must be async-signal-safe.
using ArrivalAction = void (*)(const Received&);

/// Sets the process's action at arrival, null for none. Thread-safe.
void set_arrival_action(ArrivalAction action) noexcept;

/// Number of seats held in the process.
std::size_t seats_held() noexcept;

/// "SIGINT", "SIGTERM" or "another signal"; static storage.
const char* name(int signal) noexcept;

}  // namespace mishap::signals
