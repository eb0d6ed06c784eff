#include <mishap/collector/clock.h>
#include <mishap/collector/modules.h>
#include <mishap/collector/record_writer.h>
#include <mishap/collector/resolve/capture.h>
#include <mishap/collector/run_facts.h>
#include <mishap/collector/throw_hook.h>
#include <mishap/faultinject/active.h>
#include <mishap/trainer/harness/capture/capture_observer.h>
#include <mishap/trainer/harness/capture/capture_storage.h>
#include <mishap/trainer/harness/capture/failure_report.h>
#include <mishap/trainer/harness/capture/process_sample.h>
#include <mishap/trainer/harness/capture/recorded_errors.h>
#include <mishap/trainer/harness/capture/reproduce.h>
#include <mishap/trainer/harness/capture/sinks.h>
#include <pthread.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace mishap {
namespace {

using collector::Record;
using collector::RecordPlace;

thread_local CaptureObserver* innermost = nullptr;

std::optional<std::int64_t> counter(std::int64_t value) noexcept {
  return value < 0 ? std::nullopt : std::optional(value);
}

RecordPlace to_record(std::string_view entry_point,
                      const Place& place) noexcept {
  RecordPlace out;
  out.entry_point = entry_point;
  out.stage = to_string(place.stage);
  out.hook = to_string(place.hook);
  out.component = place.component.name();
  out.epoch = counter(place.epoch);
  out.batch_index = counter(place.batch);
  out.global_step = counter(place.step);
  return out;
}

collector::RecordInterrupt to_record(std::string_view entry_point,
                                     const InterruptNote& note) noexcept {
  collector::RecordInterrupt out;
  out.signal = signals::name(note.received.signal);
  out.number = note.received.signal;
  if (note.received.sender > 0) {
    out.sender_pid = note.received.sender;
  }
  out.at = to_record(entry_point, note.at);
  out.honoured = to_record(entry_point, note.honoured_at);
  out.delay_micros = (note.honoured_nanos - note.received.steady_nanos) / 1'000;
  return out;
}

collector::FaultStatus fault_status() noexcept {
  switch (faultinject::status()) {
    case faultinject::Status::kCompiledOut:
      return collector::FaultStatus::kCompiledOut;
    case faultinject::Status::kDormant:
      return collector::FaultStatus::kDormant;
    case faultinject::Status::kArmed:
      break;
  }
  return collector::FaultStatus::kArmed;
}

void fill_thread(CaptureStorage& storage) noexcept {
  // The thread of the innermost cause: a worker's error is thrown once more by
  // the thread that waited for it.
  collector::RecordThread& thread = storage.record.thread;
  const pid_t self = gettid();
  thread.id = self;
  pthread_getname_np(pthread_self(), storage.thread_name.data(),
                     storage.thread_name.size());
  thread.name = std::string_view(storage.thread_name.data());
  for (const collector::ChainEntry& entry : storage.chain.entries()) {
    if (entry.site) {
      thread.id = entry.site->thread_id;
      thread.name =
          storage.keep(std::string_view(entry.site->thread_name.data()));
    }
  }
  thread.role = thread.id == getpid() ? "main"
                : thread.id == self   ? "caller"
                                      : "worker";
}

void fill_crumbs(CaptureStorage& storage, const BreadcrumbRing& ring,
                 const TickClock& clock) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Breadcrumb& crumb = ring[i];
    collector::RecordBreadcrumb out;
    out.hook = to_string(crumb.hook);
    out.component = crumb.component.name();
    out.phase = collector::CrumbPhase::kBefore;
    out.steady_nano = clock.steady_nanos(crumb.ticks);
    storage.crumbs[count++] = out;
    if (crumb.end_ticks != 0) {
      out.phase = collector::CrumbPhase::kAfter;
      out.steady_nano = clock.steady_nanos(crumb.end_ticks);
      storage.crumbs[count++] = out;
    }
  }
  storage.record.breadcrumbs = {storage.crumbs.data(), count};
}

void fill_fault(CaptureStorage& storage, const Run& run,
                std::uint64_t firings_at_start) noexcept {
  collector::RecordFault& fault = storage.record.fault;
  fault.status = fault_status();
  if (!faultinject::last_fired(storage.firing) ||
      storage.firing.sequence <= firings_at_start ||
      (storage.firing.owner != nullptr &&
       storage.firing.owner != run.owner())) {
    return;
  }
  fault.status = collector::FaultStatus::kArmed;
  fault.point = storage.firing.point;
  fault.hit = static_cast<std::int64_t>(storage.firing.hit);
  fault.action = storage.firing.action;
  fault.spec = storage.firing.spec;
  fault.seed = storage.firing.seed;
}

void fill_cleanup(CaptureStorage& storage, const Run& run) noexcept {
  std::size_t count = 0;
  std::size_t failed = 0;
  for (const SecondaryError& error : run.secondary()) {
    if (failed == storage.suppressed.size()) {
      break;
    }
    storage.secondary.describe(error.error);
    collector::RecordSuppressed& out = storage.suppressed[failed++];
    out = {};
    out.step = error.step;
    out.component = error.place.component.name();
    if (!storage.secondary.entries().empty()) {
      out.type = storage.keep(storage.secondary.entries()[0].type);
      out.message = storage.keep(storage.secondary.entries()[0].message);
    }
  }
  for (const CleanupNote& note : run.cleanup()) {
    if (count == storage.cleanup.size()) {
      break;
    }
    collector::RecordCleanup& out = storage.cleanup[count++];
    out = {};
    out.step = note.step;
    out.component = note.component.name();
    out.outcome = static_cast<collector::CleanupOutcome>(note.outcome);
    out.micros = note.micros;
    if (note.error && *note.error < failed) {
      out.error = storage.suppressed[*note.error].message;
    }
  }
  storage.record.suppressed = {storage.suppressed.data(), failed};
  storage.record.cleanup = {storage.cleanup.data(), count};
}

void fill_state(CaptureStorage& storage, const Run& run) noexcept {
  Record& record = storage.record;
  storage.state = {};
  probe_state(run, storage.chain, storage.state);
  record.modes = storage.state.modes;
  record.device = {storage.state.devices.data(), storage.state.device_count};
  record.batch = {storage.state.tensors.data(), storage.state.tensor_count};
  record.warnings = {storage.state.warnings.data(),
                     storage.state.warning_count};
  record.process = sample_process();
  switch (run.weights()) {
    case Weights::kNone:
      record.weights.reset();
      break;
    case Weights::kConsistent:
      record.weights = collector::WeightState::kConsistent;
      break;
    case Weights::kPartial:
      record.weights = collector::WeightState::kPartial;
      break;
  }
}

std::string_view write_line(CaptureStorage& storage) noexcept {
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

CaptureObserver::CaptureObserver(const CaptureOptions& options)
    : options_(options), sink_(sink_for(options)) {}

CaptureObserver::~CaptureObserver() {
  if (innermost == this) {
    innermost = outer_;
  }
}

void CaptureObserver::on_enter(Run& run) {
  outer_ = std::exchange(innermost, this);
  run_id_ = collector::make_uuid();
  record_id_ = collector::make_uuid();
  start_unix_nanos_ = collector::Clock::system().unix_nano();
  start_steady_nanos_ = collector::Clock::system().steady_nano();
  firings_at_start_ = faultinject::firing_sequence();
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
  record.process.pid = getpid();
  record.fault.status = fault_status();
  if (options_.writes && options_.pending_slot &&
      slot_.open(sink_.folder(), run_id_.view())) {
    slot_.hold(write_line(*storage_));
  }
}

void CaptureObserver::before(Run& run) {
  const Place& place = run.place();
  crumbs_.enter(place);
  if (slot_.is_open()) {
    collector::SlotPlace& out = slot_.place();
    out.stage.set(to_string(place.stage));
    out.set_hook(to_string(place.hook), place.component.name());
    out.epoch = place.epoch;
    out.batch = place.batch;
    out.step = place.step;
  }
}

void CaptureObserver::after(Run& run) { crumbs_.leave(run.place()); }

void CaptureObserver::on_failure(Run& run, const Failure& failure) noexcept {
  if (!storage_) {
    return;
  }
  CaptureStorage& storage = *storage_;
  Record& record = storage.record;
  collector::RawTrace catch_site;
  collector::capture_stack(catch_site);
  ticks_.calibrate();
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
  fill_crumbs(storage, crumbs_, ticks_);
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
  if (slot_.is_open()) {
    slot_.freeze(write_line(storage));
  }
}

void CaptureObserver::on_close(Run& run, const Failure* failure) noexcept {
  if (!storage_) {
    // The run failed before it could be watched.
    return;
  }
  if (failure != nullptr && frozen_) {
    CaptureStorage& storage = *storage_;
    Record& record = storage.record;
    storage.notes = sink_.take_notes();
    record.notes = storage.notes.views();
    fill_exceptions(storage, storage.catch_site, FrameDetail::kNamed);
    fill_thread(storage);
    fill_cleanup(storage, run);
    if (run.interrupt()) {
      record.interrupt = to_record(run.entry_point(), *run.interrupt());
    }
    const bool is_kept =
        options_.writes && sink_.append_record(write_line(storage));
    remember_recorded(
        failure->error,
        {record_id_, outer_ == nullptr ? collector::Uuid() : outer_->run_id_});
    if (options_.report_on_stderr) {
      report_failure(record, sink_.records_path(), is_kept);
    }
  }
  slot_.close();
  if (options_.writes && (failure != nullptr || options_.rows_of_clean_runs)) {
    append_row(run, failure);
  }
  throws_.reset();
  give_back(std::move(storage_));
  innermost = outer_;
}

void CaptureObserver::append_row(const Run& run,
                                 const Failure* failure) noexcept {
  try {
    static const collector::RunFacts* const facts =
        new collector::RunFacts(collector::RunFacts::gather());
    collector::RunRow row;
    facts->fill(row);
    row.run_id = run_id_.view();
    row.parent_run_id = storage_->record.parent_run_id;
    row.entry_point = run.entry_point();
    row.start_unix_nano = start_unix_nanos_;
    row.end_unix_nano = collector::Clock::system().unix_nano();
    row.duration_micros =
        (collector::Clock::system().steady_nano() - start_steady_nanos_) /
        1'000;
    row.outcome = outcome_of(run);
    row.pid = getpid();
    row.seed = run.seed();
    std::vector<collector::NameValue> options;
    for (const auto& [name, value] : run.options()) {
      options.push_back({name, value});
    }
    row.options = options;
    std::vector<std::string> build_ids;
    std::vector<collector::RunModule> modules;
    build_ids.reserve(storage_->module_count);
    for (std::size_t i = 0; i < storage_->module_count; ++i) {
      const collector::Module& module =
          collector::module_at(static_cast<std::size_t>(storage_->modules[i]));
      build_ids.push_back(module.build_id_hex());
      modules.push_back(
          {module.path, build_ids.back(), module.load_address, module.size()});
    }
    row.modules = modules;
    const std::string_view record_id = record_id_.view();
    if (failure != nullptr && frozen_) {
      row.record_ids = {&record_id, 1};
    }
    // The record's buffer is free by now; rows of many modules need more.
    std::string line(collector::kRunRowBufferBytes, '\0');
    const std::size_t size = write_run_row(row, line);
    sink_.append_run(std::string_view(line).substr(0, size));
  } catch (...) {
    // A row is a convenience: for want of memory the run goes without.
  }
}

}  // namespace mishap
