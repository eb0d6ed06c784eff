#pragma once

#include <mishap/trainer/guard/cleanup_note.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace mishap {

/// Notices a piece of cleanup that passes its limit while it still runs: by a
/// thread that lives from the first piece that runs others' code to stop().
/// Without room for a thread nothing is noticed before the piece ends.
///
/// Its lock also guards what is noted of the cleanup, so that another thread
/// can tell it when the process ends in the middle.
class CleanupWatch {
 public:
  using Clock = std::chrono::steady_clock;
  /// Called on the watching thread with no lock held, once a piece. Must not
  /// throw.
  using OnOvertime = std::function<void(const CleanupNote&)>;

  /// A limit of zero or less is none.
  CleanupWatch(std::chrono::milliseconds limit, OnOvertime on_overtime);
  ~CleanupWatch() { stop(); }
  CleanupWatch(const CleanupWatch&) = delete;
  CleanupWatch& operator=(const CleanupWatch&) = delete;

  /// A piece that runs from here to end(), or as long as the object lives.
  /// Pieces may be nested; of nested ones the one that is late of its own doing
  /// is told.
  class Piece {
   public:
    /// `runs_others_code`: it calls code that may wait for something. A piece
    /// that does not is worth no thread; one that is there watches it as well.
    Piece(CleanupWatch& watch, const CleanupNote& note, bool runs_others_code);
    ~Piece();
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;

    std::chrono::nanoseconds took() const noexcept;
    /// Under the watch's lock.
    void end() noexcept;

   private:
    friend class CleanupWatch;

    CleanupWatch& watch_;
    const CleanupNote note_;
    const Clock::time_point start_;
    Piece* outer_ = nullptr;
    bool told_ = false;
    bool ended_ = false;
  };

  bool is_late(std::chrono::nanoseconds took) const noexcept {
    return took > limit_;
  }

  /// Held for a few instructions, never while code of a component runs. Owns
  /// nothing in a child that was forked while the thread lived: the thread may
  /// have held it.
  std::unique_lock<std::mutex> lock() const;
  /// A piece has begun in this run. Under the lock.
  bool has_begun() const noexcept { return has_begun_; }
  /// The pieces that run now, innermost first. Under the lock.
  std::vector<CleanupNote> running() const;

  /// Ends the thread and waits for it.
  void stop() noexcept;

 private:
  bool is_forked() const noexcept;
  void start() noexcept;
  void watch() noexcept;
  /// The piece to tell of, and when to look again.
  std::optional<CleanupNote> next_late(Clock::time_point& look_again);
  CleanupNote unfinished(const Piece& piece, Clock::time_point now) const;

  const std::chrono::nanoseconds limit_;
  const OnOvertime on_overtime_;
  mutable std::mutex mutex_;
  Piece* innermost_ = nullptr;
  bool has_begun_ = false;
  sem_t stopped_{};
  pthread_t thread_{};
  /// The process in which the thread lives, 0 without a thread.
  std::atomic<pid_t> process_{0};
};

}  // namespace mishap
