// What a run leaves when the process crashes in the middle of it, told on the
// thread that fails, in a signal handler.
#include <mishap/collector/clock.h>
#include <mishap/collector/record_writer.h>
#include <mishap/trainer/harness/capture/bounded_lock.h>
#include <mishap/trainer/harness/capture/capture_observer.h>
#include <mishap/trainer/harness/capture/capture_storage.h>
#include <mishap/trainer/harness/capture/crash_capture.h>
#include <mishap/trainer/harness/capture/crash_report.h>
#include <mishap/trainer/harness/capture/record_parts.h>
#include <mishap/trainer/harness/capture/reproduce.h>

namespace mishap {
namespace {

constinit std::array<char, 8192> reproduce_buffer{};

}  // namespace

void CaptureObserver::fill_crashed(const collector::Crash& crash) noexcept {
  collector::Record& record = storage_->record;
  if (frozen_) {
    // The first error stays what the record is about.
    record.signal = crash.signal;
    record.registers = crash.registers.all();
    record.exit.signal = crash.dies_by;
    collector::RecordThreadStack& thread = storage_->crashed;
    thread = {};
    thread.id = crash.thread.id;
    thread.name = crash.thread_name.view();
    thread.role = crash.thread.role;
    thread.stack = fill_crash_stack(*storage_, crash);
    record.threads = {&thread, 1};
    return;
  }
  record.kind = collector::RecordKind::kCrash;
  // On another thread than the run's what it stores is read all the same: it
  // is the best that can be known.
  const std::optional<Place> published =
      is_on_own_thread() ? std::nullopt : run_->seat().place();
  fill_where(published ? published : std::optional(run_->place()));
  fill_crumbs(*storage_, slot_.box());
  fill_telemetry(*storage_, *run_);
  fill_crash_exceptions(*storage_, crash);
  fill_crash(crash, record);
  record.reproduce = prepared_reproduce(reproduce_buffer, record.fault.spec);
}

void CaptureObserver::append_crashed_row() noexcept {
  collector::RunRow row;
  row.run_id = run_id_.view();
  row.parent_run_id = storage_->record.parent_run_id;
  row.entry_point = run_->entry_point();
  row.start_unix_nano = start_unix_nanos_;
  row.duration_micros =
      (collector::Clock::system().steady_nano() - start_steady_nanos_) / 1'000;
  row.seed = run_->seed();
  row.record_ids = {&storage_->record.record_id, 1};
  append_crash_row(sink_, row, *storage_);
}

RecordFate CaptureObserver::append_crashed(
    const collector::Crash& crash) noexcept {
  collector::Record& record = storage_->record;
  // std::terminate() is no signal handler.
  if (crash.cause == collector::Crash::Cause::kTerminate) {
    bool filter_failed = false;
    if (apply_filter(options_.filter, record, *storage_, filter_failed) ==
        FilterVerdict::kDrop) {
      return RecordFate::kDropped;
    }
    if (filter_failed) {
      record.notes = {&kFilterThrew, 1};
    }
  }
  storage_->labels.put_on(record);
  const std::string_view line(storage_->line.data(),
                              write_record(record, storage_->line));
  // A forked child's slot is memory of its own without a file.
  slot_.freeze(line);
  const bool is_kept = sink_.append_record(line);
  append_crashed_row();
  return is_kept ? RecordFate::kWritten : RecordFate::kLost;
}

bool CaptureObserver::on_crash(
    const collector::Crash& crash,
    const CrashCircumstances& circumstances) noexcept {
  const auto telling = bounded_lock(telling_);
  if (!telling) {
    // Its own thread is in the middle of it: the pending slot stays.
    return true;
  }
  if (told_ || !storage_) {
    return false;
  }
  told_ = true;
  if (!options_.writes) {
    return true;
  }
  collector::Record& record = storage_->record;
  collector::Uuid parent_id = run_id_;
  if (circumstances.in_forked_child) {
    // A run of its own, so that its record and its row are nobody else's.
    frozen_ = false;
    run_id_ = collector::make_uuid();
    record_id_ = collector::make_uuid();
    record.run_id = run_id_.view();
    record.record_id = record_id_.view();
    record.parent_run_id = parent_id.view();
    record.process_phase = collector::ProcessPhase::kForkedChild;
  }
  for (const OpenRun* run = newest(); run != nullptr; run = run->older()) {
    const auto* other = static_cast<const CaptureObserver*>(run);
    if (other->outer_ == this) {
      storage_->inner_record_id = other->record_id_;
      record.inner_record_id = storage_->inner_record_id.view();
      break;
    }
  }
  fill_crashed(crash);
  const RecordFate fate = append_crashed(crash);
  if (!circumstances.in_forked_child) {
    slot_.remove_for_exit();
  }
  if (options_.report_on_stderr && circumstances.happened_here) {
    report_crash(record, crash, sink_.records_path(), fate);
  }
  return true;
}

}  // namespace mishap
