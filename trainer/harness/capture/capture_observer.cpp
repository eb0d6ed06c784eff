#include <mishap/collector/clock.h>
#include <mishap/collector/io/bounded_write.h>
#include <mishap/collector/modules.h>
#include <mishap/collector/record_writer.h>
#include <mishap/collector/resolve/capture.h>
#include <mishap/collector/row_parts.h>
#include <mishap/collector/throw_hook.h>
#include <mishap/faultinject/firing.h>
#include <mishap/trainer/harness/capture/bounded_lock.h>
#include <mishap/trainer/harness/capture/capture_observer.h>
#include <mishap/trainer/harness/capture/capture_storage.h>
#include <mishap/trainer/harness/capture/crash_capture.h>
#include <mishap/trainer/harness/capture/failure_report.h>
#include <mishap/trainer/harness/capture/grace_period.h>
#include <mishap/trainer/harness/capture/kept_record.h>
#include <mishap/trainer/harness/capture/kept_threads.h>
#include <mishap/trainer/harness/capture/live_exceptions.h>
#include <mishap/trainer/harness/capture/prepared_facts.h>
#include <mishap/trainer/harness/capture/record_parts.h>
#include <mishap/trainer/harness/capture/recorded_errors.h>
#include <mishap/trainer/harness/capture/reproduce.h>
#include <mishap/trainer/harness/capture/sinks.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mishap {
namespace {

using collector::Record;

thread_local CaptureObserver* innermost = nullptr;

std::string_view write_line(CaptureStorage& storage) noexcept {
  // What a slot holds while its run goes on is judged by who recovers it.
  if (storage.record.kind != collector::RecordKind::kKilled) {
    storage.labels.put_on(storage.record);
  }
  const std::size_t size = write_record(storage.record, storage.line);
  return {storage.line.data(), size};
}

collector::RunOutcome outcome_of(const Run& run) noexcept {
  switch (run.final_word()) {
    case FinalWord::kSuccess:
      return collector::RunOutcome::kSuccess;
    case FinalWord::kInterrupted:
      return collector::RunOutcome::kInterrupted;
    case FinalWord::kFailed:
      break;
  }
  return collector::RunOutcome::kFailed;
}

}  // namespace

CaptureObserver::CaptureObserver(const CaptureOptions& options,
                                 const HangOptions& hang)
    : options_(own_or_outer(options)),
      hang_options_(hang),
      sink_(sink_for(options_)) {
  crumbs_.attach(slot_.box(), nullptr);
}

const CaptureOptions& CaptureObserver::own_or_outer(
    const CaptureOptions& options) {
  return options.records.empty() && innermost != nullptr ? innermost->options_
                                                         : options;
}

CaptureObserver::~CaptureObserver() {
  if (innermost == this) {
    innermost = outer_;
  }
}

void CaptureObserver::on_enter(Run& run) {
  run_ = &run;
  thread_ = pthread_self();
  thread_id_ = gettid();
  outer_ = std::exchange(innermost, this);
  run_id_ = collector::make_uuid();
  record_id_ = collector::make_uuid();
  start_unix_nanos_ = collector::Clock::system().unix_nano();
  start_steady_nanos_ = collector::Clock::system().steady_nano();
  firings_at_start_ = faultinject::firing_sequence();
  try {
    watch(run);
  } catch (const std::exception& problem) {
    // The run matters more than its record.
    storage_.reset();
    collector::bounded_write(
        STDERR_FILENO,
        {"mishap: a failure of ", run.entry_point(),
         " will leave no record, for want of room for one: ", problem.what(),
         "\n"},
        std::chrono::milliseconds(100));
  }
}

void CaptureObserver::watch(Run& run) {
  // Probed here so that every program with a guard links the hook.
  collector::hook_is_live();
  collector::warm_up_capture();
  throws_.emplace();
  storage_ = take_storage();
  probe_on_enter(run);

  Record& record = storage_->record;
  record.record_id = record_id_.view();
  record.run_id = run_id_.view();
  record.parent_run_id =
      outer_ == nullptr ? std::string_view() : outer_->run_id_.view();
  record.time_unix_nano = start_unix_nanos_;
  record.steady_nano = start_steady_nanos_;
  record.kind = collector::RecordKind::kKilled;
  record.place = to_record(run.entry_point(), run.place());
  record.thread.id = gettid();
  record.rank = run_facts().rank();
  record.world_size = run_facts().world_size();
  record.process.pid = getpid();
  record.fault.status = fault_status();
  if (options_.writes && options_.pending_slot &&
      slot_.open(sink_.folder(), run_id_.view())) {
    hold_minimal();
    crumbs_.attach(slot_.box(), slot_.names());
  }
  // For a record that is made where nothing can be asked for any more.
  collector::refresh_modules();
  prepare_reproduce();
  enlist();
  if (options_.writes && options_.crashes) {
    prepare_for_crashes();
    registered_.emplace(gettid() == getpid() ? "main" : "caller");
    crashes_.emplace();
  }
  watch_progress();
}

void CaptureObserver::before(Run& run) {
  crumbs_.enter(run.place());
  hang_watch_.beat();
}

void CaptureObserver::resumed(Run& run) noexcept {
  crumbs_.resume(run.place());
  hang_watch_.beat();
}

void CaptureObserver::after(Run& run) {
  crumbs_.leave(run.place());
  hang_watch_.beat();
}

void CaptureObserver::on_checkpoint(Run&,
                                    const CheckpointNote& checkpoint) noexcept {
  const auto telling = bounded_lock(telling_);
  if (!telling || told_ || !storage_) {
    return;
  }
  try {
    storage_->resume_path = checkpoint.path;
    storage_->resume_checksum = checkpoint.checksum;
  } catch (...) {
    // Without memory for its name the last one is not told.
    storage_->resume_path.clear();
    storage_->resume_checksum.clear();
  }
  collector::RecordResume& resume = storage_->record.resume;
  resume.path = storage_->resume_path;
  resume.checksum = storage_->resume_checksum;
  resume.step =
      checkpoint.step < 0 ? std::nullopt : std::optional(checkpoint.step);
  // So that a run that is killed names it too.
  if (slot_.is_open() && frozen_) {
    slot_.freeze(write_line(*storage_));
  } else if (slot_.is_open()) {
    hold_minimal();
  }
}

void CaptureObserver::hold_minimal() noexcept {
  if (!options_.filter) {
    slot_.hold(write_line(*storage_));
    return;
  }
  // The filter is to see each record as it would be without a filter.
  const Record before = storage_->record;
  bool filter_failed = false;
  if (apply_filter(options_.filter, storage_->record, *storage_,
                   filter_failed) == FilterVerdict::kKeep) {
    if (filter_failed) {
      storage_->record.notes = {&kFilterThrew, 1};
    }
    slot_.hold(write_line(*storage_));
  }
  storage_->record = before;
}

void CaptureObserver::on_failure(Run& run, const Failure& failure) noexcept {
  if (!storage_) {
    return;
  }
  const auto telling = bounded_lock(telling_);
  if (!telling || told_) {
    // Whoever holds it so long ends the process, and tells of this run.
    return;
  }
  CaptureStorage& storage = *storage_;
  Record& record = storage.record;
  collector::RawTrace catch_site;
  collector::capture_stack(catch_site);
  record.time_unix_nano = collector::Clock::system().unix_nano();
  record.steady_nano = collector::Clock::system().steady_nano();
  record.sequence = collector::next_sequence();
  record.kind = run.status() == Status::kInterrupted
                    ? collector::RecordKind::kInterrupt
                    : collector::RecordKind::kError;
  record.place = to_record(run.entry_point(), failure.place);
  storage.chain.describe(failure.error);
  storage.catch_site = catch_site;
  fill_exceptions(storage, catch_site, FrameDetail::kLocated);
  fill_thread(storage);
  fill_crumbs(storage, slot_.box());
  fill_fault(storage, run, firings_at_start_);
  fill_state(storage, run);
  if (run.interrupt()) {
    record.interrupt = to_record(run.entry_point(), *run.interrupt());
  }
  const std::optional<RecordedError> inner = find_recorded(failure.error);
  if (inner && inner->parent_run_id == run_id_) {
    storage.inner_record_id = inner->record_id;
    record.inner_record_id = storage.inner_record_id.view();
  }
  try {
    storage.reproduce = reproduce_command(record.fault.spec);
    record.reproduce = storage.reproduce;
  } catch (...) {
    // Without memory for it the record has no command; all else stays.
  }
  frozen_ = true;
  bool filter_failed = false;
  // What is dropped is not pending either; the slot goes on to tell that there
  // was a run.
  if (apply_filter(options_.filter, storage.record, storage, filter_failed) ==
          FilterVerdict::kKeep &&
      slot_.is_open()) {
    slot_.freeze(write_line(storage));
  }
}

void CaptureObserver::on_close(Run& run, const Failure* failure) noexcept {
  if (!storage_) {
    // The run failed before it could be watched.
    return;
  }
  settle(run, failure);
  crashes_.reset();
  registered_.reset();
  hang_watch_.unwatch();
  delist();
  if (run.interrupt()) {
    end_grace_period();
  }
  slot_.close();
  crumbs_.attach(slot_.box(), nullptr);
  throws_.reset();
  give_back(std::move(storage_));
  innermost = outer_;
}

void CaptureObserver::settle(const Run& run, const Failure* failure) noexcept {
  const auto telling = bounded_lock(telling_);
  if (!telling || std::exchange(told_, true)) {
    return;
  }
  const bool has_record = failure != nullptr && frozen_;
  bool has_row = true;
  if (has_record) {
    CaptureStorage& storage = *storage_;
    fill_exceptions(storage, storage.catch_site, FrameDetail::kNamed);
    fill_thread(storage);
    fill_cleanup(storage, {.notes = run.cleanup(),
                           .notes_total = run.cleanup_total(),
                           .errors = run.secondary(),
                           .errors_total = run.secondary_total()});
    if (run.interrupt()) {
      storage.record.interrupt = to_record(run.entry_point(), *run.interrupt());
    }
    if (kept_threads_) {
      storage.record.threads = kept_threads_->view();
    }
    has_row = append_and_report(MayAskUser::kYes);
    if (has_row) {
      remember_recorded(failure->error,
                        {record_id_, outer_ == nullptr ? collector::Uuid()
                                                       : outer_->run_id_});
    }
  }
  if (options_.writes && has_row &&
      (failure != nullptr || left_hang_ || options_.rows_of_clean_runs)) {
    append_row(outcome_of(run), has_record, true);
  }
}

void CaptureObserver::on_abandoned(Run&) noexcept {
  {
    const auto telling = bounded_lock(telling_);
    told_ = true;
  }
  crashes_.reset();
  registered_.reset();
  hang_watch_.unwatch();
  delist();
}

bool CaptureObserver::append_and_report(MayAskUser may_ask) noexcept {
  Record& record = storage_->record;
  storage_->notes = sink_.take_notes();
  record.notes = storage_->notes.views();
  RecordFate fate = RecordFate::kNotWanted;
  if (options_.writes) {
    fate = append_unless_left_out(
        *storage_, options_, sink_,
        may_ask == MayAskUser::kYes ? options_.filter : RecordFilter());
  }
  if (options_.report_on_stderr) {
    report_failure(record, sink_.records_path(), fate);
  }
  return fate != RecordFate::kCounted && fate != RecordFate::kDropped;
}

void CaptureObserver::append_row(collector::RunOutcome outcome, bool has_record,
                                 bool knows_options) noexcept {
  try {
    collector::RunRow row;
    run_facts().fill(row);
    row.run_id = run_id_.view();
    row.parent_run_id = storage_->record.parent_run_id;
    row.entry_point = run_->entry_point();
    fill_times(row, start_unix_nanos_, start_steady_nanos_);
    row.outcome = outcome;
    row.pid = getpid();
    std::vector<collector::NameValue> options;
    if (knows_options) {
      row.seed = run_->seed();
      for (const auto& [name, value] : run_->options()) {
        options.push_back({name, value});
      }
    }
    row.options = options;
    const LiveExceptions alive(start_steady_nanos_, *run_, *storage_);
    row.live_exceptions = alive.rows();
    const collector::RowModules modules(
        std::span(storage_->modules).first(storage_->module_count));
    row.modules = modules.view();
    std::vector<std::string_view> record_ids;
    if (left_hang_) {
      record_ids.push_back(hang_record_id_.view());
    }
    if (has_record) {
      record_ids.push_back(record_id_.view());
    }
    row.record_ids = record_ids;
    // The record's buffer is free by now; rows of many modules need more.
    const auto line =
        std::make_unique_for_overwrite<char[]>(collector::kRunRowBufferBytes);
    const std::size_t size =
        write_run_row(row, {line.get(), collector::kRunRowBufferBytes});
    sink_.append_run({line.get(), size});
  } catch (...) {
    // A row is a convenience: for want of memory the run goes without.
  }
}

}  // namespace mishap
