#pragma once

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
#include <mishap/trainer/harness/capture/open_runs.h>
#include <pthread.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace mishap {

struct CaptureStorage;

/// Keeps the record of one run: breadcrumbs while it lives, the frozen record
/// at its first error, the finished one when all is cleaned up.
///
/// Everything that a record needs is reserved when the run starts; handling a
/// failure allocates only for what is nice to have (names, the command), and a
/// failure of that leaves the rest.
///
/// Who ends the process in the middle of the run, on whatever thread, has its
/// record written first: on_process_exit() and end_of_overtime().
class CaptureObserver final : public Observer, private OpenRun {
 public:
  /// A run inside another one that names no folder of its own keeps its records
  /// as the outer one does.
  explicit CaptureObserver(const CaptureOptions& options);
  ~CaptureObserver() override;

  void on_enter(Run& run) override;
  void before(Run& run) override;
  void after(Run& run) override;
  void resumed(Run& run) noexcept override;
  void on_failure(Run& run, const Failure& failure) noexcept override;
  void on_close(Run& run, const Failure* failure) noexcept override;
  void on_abandoned(Run& run) noexcept override;

  /// A piece of cleanup is late and the process ends of it, with this status:
  /// leaves the records of this run and of all others that are open, and says
  /// so on stderr. On any thread.
  void end_of_overtime(const Overtime& overtime, int status) noexcept;

  std::string_view run_id() const noexcept { return run_id_.view(); }

 private:
  /// Reserves what the record needs and opens the pending slot.
  void watch(Run& run);
  void show_place(const Place& place) noexcept;
  static const CaptureOptions& own_or_outer(const CaptureOptions& options);
  bool on_process_exit(const ProcessExit& exit) noexcept override;

  bool is_on_own_thread() const noexcept;
  void fill_unfrozen(const Overtime* late) noexcept;
  void fill_unfinished_cleanup() noexcept;
  void tell_end(collector::RecordKind kind, const ProcessExit& exit,
                const Overtime* late) noexcept;
  void settle(const Run& run, const Failure* failure) noexcept;
  /// Whether code of the user may be called from here.
  enum class MayAskUser : bool { kNo, kYes };
  /// False when the record was left out on purpose.
  bool append_and_report(MayAskUser may_ask) noexcept;
  /// `knows_options`: the run's thread is not about to change them.
  void append_row(collector::RunOutcome outcome, bool has_record,
                  bool knows_options) noexcept;

  const CaptureOptions& options_;
  collector::RecordSink& sink_;
  collector::Uuid run_id_;
  collector::Uuid record_id_;
  CaptureObserver* outer_ = nullptr;
  const Run* run_ = nullptr;
  pthread_t thread_{};
  std::optional<collector::ThrowCaptureScope> throws_;
  std::unique_ptr<CaptureStorage> storage_;
  BreadcrumbRing crumbs_;
  TickClock ticks_;
  collector::PendingSlot slot_;
  std::int64_t start_unix_nanos_ = 0;
  std::int64_t start_steady_nanos_ = 0;
  std::uint64_t firings_at_start_ = 0;
  // Held while the record is filled and written: by the run's thread, or by
  // whoever ends the process.
  std::mutex telling_;
  bool frozen_ = false;
  bool told_ = false;
};

}  // namespace mishap
