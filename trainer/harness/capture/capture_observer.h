#pragma once

#include <mishap/collector/crash/fatal_signals.h>
#include <mishap/collector/crash/thread_registry.h>
#include <mishap/collector/pending_slot.h>
#include <mishap/collector/record.h>
#include <mishap/collector/run_row.h>
#include <mishap/collector/sink.h>
#include <mishap/collector/throw_site.h>
#include <mishap/collector/uuid.h>
#include <mishap/trainer/guard/observer.h>
#include <mishap/trainer/guard/overtime.h>
#include <mishap/trainer/guard/run.h>
#include <mishap/trainer/harness/capture/breadcrumbs.h>
#include <mishap/trainer/harness/capture/capture_options.h>
#include <mishap/trainer/harness/capture/failure_report.h>
#include <mishap/trainer/harness/capture/hang_options.h>
#include <mishap/trainer/harness/capture/hang_watch.h>
#include <mishap/trainer/harness/capture/open_runs.h>
#include <pthread.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

namespace mishap {

struct CaptureStorage;
class KeptThreads;
class ThreadStacks;

/// Keeps the record of one run: breadcrumbs while it lives, the frozen record
/// at its first error, the finished one when all is cleaned up.
///
/// Everything that a record needs is reserved when the run starts; handling a
/// failure allocates only for what is nice to have (names, the command), and a
/// failure of that leaves the rest.
///
/// Who ends the process in the middle of the run, on whatever thread, has its
/// record written first: on_process_exit(), end_of_overtime() and on_crash(). A
/// run that hangs is told from outside: on_no_progress(), and when its grace
/// period is over.
class CaptureObserver final : public Observer, private OpenRun {
 public:
  /// A run inside another one that names no folder of its own keeps its records
  /// as the outer one does.
  explicit CaptureObserver(const CaptureOptions& options,
                           const HangOptions& hang = {});
  ~CaptureObserver() override;

  void on_enter(Run& run) override;
  void before(Run& run) override;
  void after(Run& run) override;
  void resumed(Run& run) noexcept override;
  void on_checkpoint(Run& run,
                     const CheckpointNote& checkpoint) noexcept override;
  void on_failure(Run& run, const Failure& failure) noexcept override;
  void on_close(Run& run, const Failure* failure) noexcept override;
  void on_abandoned(Run& run) noexcept override;

  /// A piece of cleanup is late and the process ends of it, with this status:
  /// leaves the records of this run and of all others that are open, and says
  /// so on stderr. On any thread.
  void end_of_overtime(const Overtime& overtime, int status) noexcept;

  /// A piece of cleanup is late and is waited for: keeps the stacks of all
  /// threads, of the first such piece, for the record of the run, should it
  /// leave one. On the guard's watching thread.
  void keep_threads_of_overtime() noexcept;

  /// No hook has begun or ended for so long: leaves a record of kind hang and,
  /// where that is asked for, ends the process. On the watchdog's thread.
  void on_no_progress(std::chrono::nanoseconds idle) noexcept;

  std::string_view run_id() const noexcept { return run_id_.view(); }

 private:
  /// Reserves what the record needs and opens the pending slot.
  void watch(Run& run);
  /// Stores the record that the slot tells of a process that is killed.
  void hold_minimal() noexcept;
  static const CaptureOptions& own_or_outer(const CaptureOptions& options);
  bool on_process_exit(const ProcessExit& exit) noexcept override;

  void watch_progress() noexcept;
  std::optional<std::chrono::nanoseconds> grace_left() const noexcept override;
  bool ends_process() const noexcept override;
  int status_of_overdue() const noexcept override;
  HangTold tell_overdue(const void* context,
                        std::optional<int> exit_status) noexcept override;
  void end_from_handler(const ProcessExit& exit) noexcept override;
  /// The open run inside this one, or null.
  const CaptureObserver* inner() const noexcept;
  HangTold on_hang(const HangCause& cause) noexcept;
  void tell_hang(const HangCause& cause, ThreadStacks& stacks) noexcept;
  void tell_hang_of_failed(const HangCause& cause,
                           ThreadStacks& stacks) noexcept;
  void fill_from_outside(collector::Record& record,
                         std::span<char> command) noexcept;
  Place place_in_box() const noexcept;
  /// Whether code of the user may be called from here.
  enum class MayAskUser : bool { kNo, kYes };
  RecordFate append_hang(collector::Record& record, const HangCause& cause,
                         ThreadStacks& stacks, MayAskUser may_ask) noexcept;
  RecordFate write_hang(collector::Record& record, ThreadStacks& stacks,
                        MayAskUser may_ask) noexcept;
  /// Leaves a hang's record in the slot, without its texts, in case that the
  /// filter hangs as the run does.
  void stand_by(const collector::Record& record, ThreadStacks& stacks) noexcept;
  void append_row_of_hang(const collector::Record& record,
                          ThreadStacks& stacks) noexcept;

  bool on_crash(const collector::Crash& crash,
                const CrashCircumstances& circumstances) noexcept override;
  bool is_on_this_thread() const noexcept override;

  bool is_on_own_thread() const noexcept { return is_on_this_thread(); }
  /// Place, breadcrumbs, fault and process of a run that has not failed yet.
  /// Async-signal-safe.
  void fill_where(std::optional<Place> place) noexcept;
  void fill_unfrozen(const Overtime* late) noexcept;
  void fill_crashed(const collector::Crash& crash) noexcept;
  RecordFate append_crashed(const collector::Crash& crash) noexcept;
  void append_crashed_row() noexcept;
  void fill_unfinished_cleanup() noexcept;
  void tell_end(collector::RecordKind kind, const ProcessExit& exit,
                const Overtime* late) noexcept;
  void settle(const Run& run, const Failure* failure) noexcept;
  /// False when the record was left out on purpose.
  bool append_and_report(MayAskUser may_ask) noexcept;
  /// `knows_options`: the run's thread is not about to change them.
  void append_row(collector::RunOutcome outcome, bool has_record,
                  bool knows_options) noexcept;

  const CaptureOptions& options_;
  HangOptions hang_options_;
  collector::RecordSink& sink_;
  collector::Uuid run_id_;
  collector::Uuid record_id_;
  CaptureObserver* outer_ = nullptr;
  const Run* run_ = nullptr;
  pthread_t thread_{};
  std::int32_t thread_id_ = 0;
  std::chrono::milliseconds hang_after_{0};
  HangWatch hang_watch_{*this};
  std::optional<collector::ThrowCaptureScope> throws_;
  std::optional<collector::CrashScope> crashes_;
  std::optional<collector::ThreadScope> registered_;
  std::unique_ptr<CaptureStorage> storage_;
  collector::PendingSlot slot_;
  Breadcrumbs crumbs_;
  std::int64_t start_unix_nanos_ = 0;
  std::int64_t start_steady_nanos_ = 0;
  std::uint64_t firings_at_start_ = 0;
  // Held while the record is filled and written: by the run's thread, or by
  // whoever ends the process.
  std::mutex telling_;
  bool frozen_ = false;
  bool told_ = false;
  // The signal that was told to be honoured by nobody.
  std::int64_t told_signal_nanos_ = 0;
  // The last record of kind hang that the run left and went on from.
  collector::Uuid hang_record_id_;
  bool left_hang_ = false;
  std::unique_ptr<KeptThreads> kept_threads_;
};

}  // namespace mishap
