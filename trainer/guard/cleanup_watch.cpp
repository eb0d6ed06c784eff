#include <mishap/trainer/guard/cleanup_watch.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace mishap {
namespace {

using std::chrono::nanoseconds;

// Longer than any run; a sum with a time of day does not overflow.
constexpr nanoseconds kNever = std::chrono::hours(24 * 365 * 100);

nanoseconds bounded(std::chrono::milliseconds limit) {
  return limit.count() <= 0
             ? kNever
             : nanoseconds(std::min<std::chrono::milliseconds>(
                   limit, std::chrono::duration_cast<std::chrono::milliseconds>(
                              kNever)));
}

timespec to_timespec(CleanupWatch::Clock::time_point time) {
  const auto nanos = nanoseconds(time.time_since_epoch()).count();
  timespec out{};
  out.tv_sec = nanos / 1'000'000'000;
  out.tv_nsec = nanos % 1'000'000'000;
  return out;
}

}  // namespace

CleanupWatch::CleanupWatch(std::chrono::milliseconds limit,
                           OnOvertime on_overtime)
    : limit_(bounded(limit)), on_overtime_(std::move(on_overtime)) {}

CleanupWatch::Piece::Piece(CleanupWatch& watch, const CleanupNote& note,
                           bool runs_others_code)
    : watch_(watch), note_(note), start_(Clock::now()) {
  {
    const auto lock = watch_.lock();
    outer_ = std::exchange(watch_.innermost_, this);
    watch_.has_begun_ = true;
  }
  // A thread that already waits looks again before this piece can be late.
  if (runs_others_code) {
    watch_.start();
  }
}

CleanupWatch::Piece::~Piece() {
  if (!ended_) {
    const auto lock = watch_.lock();
    end();
  }
}

void CleanupWatch::Piece::end() noexcept {
  watch_.innermost_ = outer_;
  ended_ = true;
}

nanoseconds CleanupWatch::Piece::took() const noexcept {
  return Clock::now() - start_;
}

bool CleanupWatch::is_forked() const noexcept {
  const pid_t process = process_.load();
  return process != 0 && process != getpid();
}

std::unique_lock<std::mutex> CleanupWatch::lock() const {
  return is_forked() ? std::unique_lock(mutex_, std::defer_lock)
                     : std::unique_lock(mutex_);
}

std::vector<CleanupNote> CleanupWatch::running() const {
  std::vector<CleanupNote> notes;
  const Clock::time_point now = Clock::now();
  for (const Piece* piece = innermost_; piece != nullptr;
       piece = piece->outer_) {
    notes.push_back(unfinished(*piece, now));
  }
  return notes;
}

CleanupNote CleanupWatch::unfinished(const Piece& piece,
                                     Clock::time_point now) const {
  CleanupNote note = piece.note_;
  const nanoseconds took = now - piece.start_;
  note.micros =
      std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  note.outcome = is_late(took) ? CleanupNote::Outcome::kTimedOut
                               : CleanupNote::Outcome::kFailed;
  return note;
}

void CleanupWatch::start() noexcept {
  if (process_.load() != 0 || limit_ == kNever || !on_overtime_) {
    return;
  }
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) {
    return;
  }
  // Signals are for the threads of the program.
  sigset_t all;
  sigfillset(&all);
  sem_init(&stopped_, 0, 0);
  process_.store(getpid());
  if (pthread_attr_setsigmask_np(&attributes, &all) != 0 ||
      pthread_create(
          &thread_, &attributes,
          [](void* self) -> void* {
            static_cast<CleanupWatch*>(self)->watch();
            return nullptr;
          },
          this) != 0) {
    process_.store(0);
  }
  pthread_attr_destroy(&attributes);
}

void CleanupWatch::stop() noexcept {
  if (process_.load() == 0 || is_forked()) {
    return;
  }
  sem_post(&stopped_);
  pthread_join(thread_, nullptr);
  sem_destroy(&stopped_);
  process_.store(0);
}

void CleanupWatch::watch() noexcept {
  pthread_setname_np(pthread_self(), "mishap-cleanup");
  Clock::time_point look_again;
  {
    const auto locked = lock();
    look_again =
        (innermost_ != nullptr ? innermost_->start_ : Clock::now()) + limit_;
  }
  while (true) {
    const timespec until = to_timespec(look_again);
    if (sem_clockwait(&stopped_, CLOCK_MONOTONIC, &until) == 0) {
      return;
    }
    if (errno == EINTR) {
      continue;
    }
    if (const std::optional<CleanupNote> late = next_late(look_again)) {
      on_overtime_(*late);
    }
  }
}

std::optional<CleanupNote> CleanupWatch::next_late(
    Clock::time_point& look_again) {
  const auto locked = lock();
  const Clock::time_point now = Clock::now();
  look_again = now + limit_;
  std::optional<CleanupNote> late;
  // A piece that did little before an inner one began is late because of that
  // one, which is then the one to tell of.
  const auto is_cause = [&](const Piece& piece) {
    return &piece == innermost_ ||
           innermost_->start_ - piece.start_ > limit_ / 2;
  };
  for (Piece* piece = innermost_; piece != nullptr; piece = piece->outer_) {
    if (piece->told_ || (!late && !is_cause(*piece))) {
      continue;
    }
    if (late || is_late(now - piece->start_)) {
      // Of the pieces around a late one nothing more is to be told.
      piece->told_ = true;
      late = late ? late : unfinished(*piece, now);
    } else {
      // Just behind it: the limit itself is not late.
      look_again =
          std::min(look_again, piece->start_ + limit_ + nanoseconds(1));
    }
  }
  return late;
}

}  // namespace mishap
