// What a run leaves when the process ends in the middle of it, told on the
// thread that ends the process.
#include <mishap/collector/clock.h>
#include <mishap/trainer/harness/capture/bounded_lock.h>
#include <mishap/trainer/harness/capture/capture_observer.h>
#include <mishap/trainer/harness/capture/capture_storage.h>
#include <mishap/trainer/harness/capture/hang_line.h>
#include <mishap/trainer/harness/capture/kept_threads.h>
#include <mishap/trainer/harness/capture/process_sample.h>
#include <mishap/trainer/harness/capture/record_parts.h>
#include <mishap/trainer/harness/capture/reproduce.h>
#include <mishap/trainer/harness/capture/thread_stacks.h>
#include <unistd.h>

namespace mishap {
namespace {

collector::RunOutcome outcome_of(collector::RecordKind kind) noexcept {
  switch (kind) {
    case collector::RecordKind::kHang:
      return collector::RunOutcome::kHung;
    case collector::RecordKind::kInterrupt:
      return collector::RunOutcome::kInterrupted;
    default:
      return collector::RunOutcome::kFailed;
  }
}

}  // namespace

bool CaptureObserver::is_on_this_thread() const noexcept {
  return pthread_equal(thread_, pthread_self()) != 0;
}

void CaptureObserver::fill_where(std::optional<Place> place) noexcept {
  collector::Record& record = storage_->record;
  record.place = to_record(run_->entry_point(), place.value_or(Place{}));
  if (!place) {
    record.place.stage = {};
  }
  fill_fault(*storage_, *run_, firings_at_start_);
  record.process = sample_process();
}

void CaptureObserver::fill_unfrozen(const Overtime* late) noexcept {
  collector::Record& record = storage_->record;
  record.time_unix_nano = collector::Clock::system().unix_nano();
  record.steady_nano = collector::Clock::system().steady_nano();
  record.sequence = collector::next_sequence();
  std::optional<Place> place;
  if (is_on_own_thread()) {
    place = run_->place();
  } else {
    place = run_->seat().place();
  }
  if (place && late != nullptr) {
    place->stage = Stage::kTeardown;
    place->hook = late->piece.hook;
    place->component = late->piece.component;
  }
  fill_crumbs(*storage_, slot_.box());
  record.thread.role = record.thread.id == getpid() ? "main" : "caller";
  fill_where(place);
  fill_telemetry(*storage_, *run_);
  try {
    storage_->reproduce = reproduce_command(record.fault.spec);
    record.reproduce = storage_->reproduce;
  } catch (...) {
    // Without memory for it the record has no command; all else stays.
  }
}

void CaptureObserver::fill_unfinished_cleanup() noexcept {
  try {
    const UnfinishedCleanup cleanup = run_->unfinished_cleanup();
    fill_cleanup(*storage_, {.notes = cleanup.notes,
                             .notes_total = cleanup.notes.size(),
                             .errors = cleanup.errors,
                             .errors_total = cleanup.errors.size()});
    if (cleanup.interrupt) {
      storage_->record.interrupt =
          to_record(run_->entry_point(), *cleanup.interrupt);
    }
  } catch (...) {
    // Without memory for it the record tells of no cleanup; all else stays.
  }
}

void CaptureObserver::tell_end(collector::RecordKind kind,
                               const ProcessExit& exit,
                               const Overtime* late) noexcept {
  collector::Record& record = storage_->record;
  // A run that had failed keeps the kind and the place of its first error.
  if (!frozen_) {
    record.kind = kind;
    fill_unfrozen(late);
  } else if (late == nullptr && is_on_own_thread()) {
    // Only here: finding names takes locks that a hanging thread may hold.
    fill_exceptions(*storage_, storage_->catch_site, FrameDetail::kNamed);
  }
  if (kind == collector::RecordKind::kExit) {
    record.process_phase = collector::ProcessPhase::kExiting;
  }
  record.exit.status = exit.status;
  fill_unfinished_cleanup();
}

bool CaptureObserver::on_process_exit(const ProcessExit& exit) noexcept {
  const auto telling = bounded_lock(telling_);
  if (!telling) {
    // Its own thread is in the middle of it: the pending slot stays.
    return true;
  }
  if (told_) {
    return false;
  }
  told_ = true;
  if (!options_.writes) {
    return true;
  }
  for (const OpenRun* run = newest(); run != nullptr; run = run->older()) {
    const auto* other = static_cast<const CaptureObserver*>(run);
    if (other->outer_ == this) {
      storage_->inner_record_id = other->record_id_;
      storage_->record.inner_record_id = storage_->inner_record_id.view();
      break;
    }
  }
  tell_end(collector::RecordKind::kExit, exit, nullptr);
  append_and_report(MayAskUser::kNo);
  append_row(outcome_of(storage_->record.kind), true, is_on_own_thread());
  slot_.remove_for_exit();
  return true;
}

void CaptureObserver::end_of_overtime(const Overtime& overtime,
                                      int status) noexcept {
  const ProcessExit exit{.status = status};
  end_process_soon();
  {
    const auto telling = bounded_lock(telling_);
    const ThreadStacksLease stacks;
    if (telling && !told_ && storage_) {
      told_ = true;
      if (stacks) {
        stacks->capture({.first = thread_id_});
        storage_->record.threads = stacks->fill(*storage_);
      }
      tell_end(collector::RecordKind::kHang, exit, &overtime);
      if (options_.writes) {
        append_and_report(MayAskUser::kNo);
        append_row(outcome_of(storage_->record.kind), true, true);
      }
      slot_.remove_for_exit();
    }
  }
  end_all(exit);
}

void CaptureObserver::keep_threads_of_overtime() noexcept {
  const auto telling = bounded_lock(telling_);
  const ThreadStacksLease stacks;
  if (!telling || told_ || !storage_ || !stacks || kept_threads_) {
    return;
  }
  stacks->capture({.first = thread_id_});
  try {
    kept_threads_ = std::make_unique<KeptThreads>(stacks->fill(*storage_));
  } catch (...) {
    // Without memory for them the record has no threads; all else stays.
  }
}

}  // namespace mishap
