// What a run leaves when it hangs, told from outside of it: on the watchdog's
// thread, or in the handler of a signal when the grace period is over. Whatever
// hangs may hold any lock, that of the heap among them.
#include <mishap/collector/clock.h>
#include <mishap/collector/crash/deadline.h>
#include <mishap/collector/label/label.h>
#include <mishap/collector/record_writer.h>
#include <mishap/collector/run_row.h>
#include <mishap/trainer/harness/capture/bounded_lock.h>
#include <mishap/trainer/harness/capture/capture_observer.h>
#include <mishap/trainer/harness/capture/capture_storage.h>
#include <mishap/trainer/harness/capture/grace_period.h>
#include <mishap/trainer/harness/capture/hang_line.h>
#include <mishap/trainer/harness/capture/kept_threads.h>
#include <mishap/trainer/harness/capture/prepared_facts.h>
#include <mishap/trainer/harness/capture/process_sample.h>
#include <mishap/trainer/harness/capture/record_parts.h>
#include <mishap/trainer/harness/capture/reproduce.h>
#include <mishap/trainer/harness/capture/thread_stacks.h>
#include <mishap/trainer/harness/guarded_program.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <span>
#include <string_view>

namespace mishap {
namespace {

using collector::Record;
using std::chrono::nanoseconds;

// A grace period ends in a signal handler.
bool in_handler(const HangCause& cause) noexcept {
  return cause.context != nullptr;
}

// Telling how a run ended may need what hangs: then the process ends without.
constexpr std::chrono::seconds kLastResort(10);
constinit collector::Deadline last_resort([](const void*) {
  _exit(kStatusOfOvertime);
});

}  // namespace

void end_process_soon() noexcept { last_resort.arm(kLastResort); }

void HangWatch::on_hang(const Hang& hang) noexcept {
  run_.on_no_progress(hang.idle);
}

void CaptureObserver::watch_progress() noexcept {
  HangOptions& own = hang_options_;
  if (own.after.count() == 0 && outer_ != nullptr) {
    own.then = outer_->hang_options_.then;
    hang_after_ = outer_->hang_after_;
  } else {
    hang_after_ = hang_after(own);
  }
  if (hang_after_.count() > 0) {
    hang_watch_.watch(hang_after_,
                      outer_ == nullptr ? nullptr : &outer_->hang_watch_);
  }
  if (own.grace_period.count() > 0 && run_->seat().entered()) {
    watch_grace_period(own.grace_period);
  }
}

void CaptureObserver::on_no_progress(nanoseconds idle) noexcept {
  HangCause cause;
  cause.idle = idle;
  const bool ends = ends_at_hang(hang_options_);
  if (ends) {
    cause.exit_status = kStatusOfOvertime;
    end_process_soon();
  }
  if (on_hang(cause) != HangTold::kSettled && ends) {
    end_all({.status = kStatusOfOvertime});
    _exit(kStatusOfOvertime);
  }
}

std::optional<nanoseconds> CaptureObserver::grace_left() const noexcept {
  const nanoseconds period = hang_options_.grace_period;
  const auto waiting = run_->seat().waiting();
  if (!waiting || period.count() <= 0 ||
      waiting->steady_nanos == told_signal_nanos_ || inner() != nullptr) {
    return std::nullopt;
  }
  return period - nanoseconds(collector::Clock::system().steady_nano() -
                              waiting->steady_nanos);
}

bool CaptureObserver::ends_process() const noexcept {
  return ends_at_hang(hang_options_);
}

int CaptureObserver::status_of_overdue() const noexcept {
  constexpr int kStatusOfSignal = 128;
  const auto waiting = run_->seat().waiting();
  return kStatusOfSignal + (waiting ? waiting->signal : 0);
}

HangTold CaptureObserver::tell_overdue(
    const void* context, std::optional<int> exit_status) noexcept {
  HangCause cause;
  cause.signal = run_->seat().waiting();
  cause.context = context;
  cause.exit_status = exit_status;
  if (cause.signal) {
    cause.idle = nanoseconds(collector::Clock::system().steady_nano() -
                             cause.signal->steady_nanos);
  }
  return on_hang(cause);
}

const CaptureObserver* CaptureObserver::inner() const noexcept {
  for (const OpenRun* run = newest(); run != nullptr; run = run->older()) {
    const auto* other = static_cast<const CaptureObserver*>(run);
    if (other->outer_ == this) {
      return other;
    }
  }
  return nullptr;
}

HangTold CaptureObserver::on_hang(const HangCause& cause) noexcept {
  const auto telling = bounded_lock(telling_);
  if (!telling || !storage_) {
    return HangTold::kBusy;
  }
  if (told_) {
    return HangTold::kSettled;
  }
  told_ = cause.exit_status.has_value();
  if (cause.signal) {
    told_signal_nanos_ = cause.signal->steady_nanos;
  }
  const ThreadStacksLease stacks;
  if (!stacks) {
    return HangTold::kBusy;
  }
  stacks->capture({.first = thread_id_, .context = cause.context});
  if (frozen_ && cause.exit_status) {
    tell_hang_of_failed(cause, *stacks);
  } else {
    tell_hang(cause, *stacks);
  }
  if (cause.exit_status) {
    slot_.remove_for_exit();
  }
  return HangTold::kTold;
}

// A run that had failed stays the error that it was.
void CaptureObserver::tell_hang_of_failed(const HangCause& cause,
                                          ThreadStacks& stacks) noexcept {
  Record& record = storage_->record;
  record.threads = stacks.fill(*storage_);
  record.exit.status = cause.exit_status;
  if (!in_handler(cause)) {
    fill_unfinished_cleanup();
  }
  append_hang(record, cause, stacks,
              in_handler(cause) ? MayAskUser::kNo : MayAskUser::kYes);
}

void CaptureObserver::tell_hang(const HangCause& cause,
                                ThreadStacks& stacks) noexcept {
  Record record;
  const collector::Uuid own_id = collector::make_uuid();
  record.record_id = cause.exit_status ? record_id_.view() : own_id.view();
  record.kind = collector::RecordKind::kHang;
  fill_from_outside(record, stacks.command());
  // The state of a run that has failed is that of its error.
  if (!frozen_ && !in_handler(cause)) {
    fill_state_of_hang(*storage_, thread_id_, record);
  }
  record.threads = stacks.fill(*storage_);
  if (!record.threads.empty() && record.threads[0].id == thread_id_) {
    record.thread.name = record.threads[0].name;
  }
  record.exit.status = cause.exit_status;
  const RecordFate fate =
      append_hang(record, cause, stacks,
                  in_handler(cause) ? MayAskUser::kNo : MayAskUser::kYes);
  if (!frozen_) {
    // What belongs to this moment only.
    storage_->record.breadcrumbs = {};
    storage_->record.telemetry = {};
    storage_->record.fault = {};
    storage_->record.fault.status = fault_status();
    storage_->record.manifested_after_steps.reset();
    if (slot_.is_open() && options_.filter && !in_handler(cause) &&
        !cause.exit_status) {
      // In the place of what stood by.
      hold_minimal();
    }
  }
  if (fate == RecordFate::kDropped) {
    return;
  }
  left_hang_ = true;
  hang_record_id_ = own_id;
}

void CaptureObserver::end_from_handler(const ProcessExit& exit) noexcept {
  const auto telling = bounded_lock(telling_);
  const ThreadStacksLease stacks;
  if (!telling || told_ || !storage_ || !stacks) {
    return;
  }
  told_ = true;
  Record own;
  if (!frozen_) {
    own.record_id = record_id_.view();
    own.kind = collector::RecordKind::kExit;
    own.process_phase = collector::ProcessPhase::kExiting;
    fill_from_outside(own, stacks->command());
  }
  Record& record = frozen_ ? storage_->record : own;
  if (const CaptureObserver* const nested = inner()) {
    record.inner_record_id = nested->record_id_.view();
  }
  record.exit.status = exit.status;
  HangCause cause;
  cause.exit_status = exit.status;
  append_hang(record, cause, *stacks, MayAskUser::kNo);
  slot_.remove_for_exit();
}

// Without the heap and without a lock.
void CaptureObserver::fill_from_outside(Record& record,
                                        std::span<char> command) noexcept {
  record.run_id = run_id_.view();
  record.parent_run_id = storage_->record.parent_run_id;
  record.time_unix_nano = collector::Clock::system().unix_nano();
  record.steady_nano = collector::Clock::system().steady_nano();
  record.sequence = collector::next_sequence();
  const std::optional<Place> place = run_->seat().place();
  record.place = to_record(run_->entry_point(), place.value_or(place_in_box()));
  record.thread.id = thread_id_;
  record.thread.role = thread_id_ == getpid() ? "main" : "caller";
  if (!frozen_) {
    fill_crumbs(*storage_, slot_.box());
    fill_fault(*storage_, *run_, firings_at_start_);
    fill_telemetry(*storage_, *run_);
  }
  record.breadcrumbs = storage_->record.breadcrumbs;
  record.fault = storage_->record.fault;
  record.manifested_after_steps = storage_->record.manifested_after_steps;
  record.telemetry = storage_->record.telemetry;
  record.resume = storage_->record.resume;
  record.rank = storage_->record.rank;
  record.world_size = storage_->record.world_size;
  record.process = sample_process();
  if (const auto waiting = run_->seat().waiting()) {
    InterruptNote note;
    note.received = *waiting;
    note.at = run_->seat().place_at_signal();
    note.honoured_nanos = record.steady_nano;
    record.interrupt = to_record(run_->entry_point(), note);
    record.interrupt.honoured = {};
  }
  record.reproduce = prepared_reproduce(command, record.fault.spec);
}

Place CaptureObserver::place_in_box() const noexcept {
  const std::optional<collector::BoxPlace> place = slot_.box().place();
  return place ? from_box(*place) : Place();
}

RecordFate CaptureObserver::append_hang(Record& record, const HangCause& cause,
                                        ThreadStacks& stacks,
                                        MayAskUser may_ask) noexcept {
  RecordFate fate = RecordFate::kNotWanted;
  if (options_.writes) {
    fate = write_hang(record, stacks, may_ask);
  }
  if (options_.report_on_stderr) {
    report_hang(record, cause, sink_.records_path(), fate);
  }
  if (options_.writes && fate != RecordFate::kDropped) {
    append_row_of_hang(record, stacks);
  }
  return fate;
}

RecordFate CaptureObserver::write_hang(Record& record, ThreadStacks& stacks,
                                       MayAskUser may_ask) noexcept {
  storage_->notes = sink_.take_notes();
  std::array<std::string_view, collector::SinkNotes::kMax + 1> notes;
  std::size_t count = 0;
  for (const std::string_view note : storage_->notes.views()) {
    notes[count++] = note;
  }
  if (may_ask == MayAskUser::kYes && options_.filter) {
    stand_by(record, stacks);
    bool filter_failed = false;
    if (apply_filter(options_.filter, record, *storage_, filter_failed) ==
        FilterVerdict::kDrop) {
      return RecordFate::kDropped;
    }
    if (filter_failed) {
      notes[count++] = kFilterThrew;
    }
  }
  collector::Labels labels;
  labels.put_on(record);
  record.notes = std::span(notes).first(count);
  const std::span<char> line = stacks.line();
  const std::size_t size = write_record(record, line);
  record.notes = {};
  return sink_.append_record({line.data(), size}) ? RecordFate::kWritten
                                                  : RecordFate::kLost;
}

void CaptureObserver::stand_by(const Record& record,
                               ThreadStacks& stacks) noexcept {
  if (!slot_.is_open() || frozen_) {
    return;
  }
  Record plain = record;
  take_texts_out(plain, *storage_);
  collector::Labels labels;
  labels.put_on(plain);
  const std::span<char> line = stacks.line();
  slot_.freeze({line.data(), write_record(plain, line)});
}

// As append_row(), without the heap; the run's options and its seed belong to
// its thread.
void CaptureObserver::append_row_of_hang(const Record& record,
                                         ThreadStacks& stacks) noexcept {
  collector::RunRow row;
  fill_prepared(row);
  row.run_id = record.run_id;
  row.parent_run_id = record.parent_run_id;
  row.entry_point = run_->entry_point();
  row.start_unix_nano = start_unix_nanos_;
  row.end_unix_nano = record.time_unix_nano;
  row.duration_micros = (record.steady_nano - start_steady_nanos_) / 1'000;
  row.outcome = record.kind == collector::RecordKind::kHang
                    ? collector::RunOutcome::kHung
                : record.kind == collector::RecordKind::kInterrupt
                    ? collector::RunOutcome::kInterrupted
                    : collector::RunOutcome::kFailed;
  row.pid = getpid();
  row.modules = stacks.modules(*storage_);
  row.record_ids = {&record.record_id, 1};
  const std::span<char> line = stacks.line();
  const std::size_t size = write_run_row(row, line);
  sink_.append_run({line.data(), size});
}

}  // namespace mishap
