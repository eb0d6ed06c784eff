#include <mishap/faultinject/active.h>
#include <mishap/trainer/harness/capture/process_sample.h>
#include <mishap/trainer/harness/capture/record_parts.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

namespace mishap {
namespace {

std::optional<std::int64_t> counter(std::int64_t value) noexcept {
  return value < 0 ? std::nullopt : std::optional(value);
}

bool went_wrong(const CleanupNote& note) noexcept {
  return note.outcome == CleanupNote::Outcome::kFailed ||
         note.outcome == CleanupNote::Outcome::kTimedOut;
}

// "type: message" in the storage.
std::string_view joined(CaptureStorage& storage, std::string_view type,
                        std::string_view message) noexcept {
  const std::size_t begin = storage.text_size;
  storage.keep(type);
  if (!message.empty()) {
    storage.keep(": ");
    storage.keep(message);
  }
  return {storage.text.data() + begin, storage.text_size - begin};
}

std::size_t fill_suppressed(CaptureStorage& storage,
                            std::span<const SecondaryError> errors) noexcept {
  std::size_t count = 0;
  for (const SecondaryError& error : errors) {
    if (count == storage.suppressed.size()) {
      break;
    }
    collector::RecordSuppressed& out = storage.suppressed[count++];
    out = {};
    out.step = error.step;
    out.component = error.place.component.name();
    storage.secondary.describe(error.error);
    if (storage.secondary.entries().empty()) {
      continue;
    }
    const collector::ChainEntry& entry = storage.secondary.entries()[0];
    out.type = storage.keep(entry.type);
    const std::string_view message = message_of(entry);
    if (message.data() != nullptr) {
      out.message = storage.keep(message);
    }
  }
  return count;
}

std::string_view error_of(CaptureStorage& storage, const CleanupNote& note,
                          std::size_t suppressed) noexcept {
  if (note.error && *note.error < suppressed) {
    const collector::RecordSuppressed& error = storage.suppressed[*note.error];
    return joined(storage, error.type, error.message);
  }
  if (note.threw_first_error && !storage.record.exceptions.empty()) {
    const collector::RecordException& first = storage.record.exceptions[0];
    return joined(storage, first.type, first.message);
  }
  return {};
}

void put_in(const StateSample& state, collector::Record& record) noexcept {
  record.modes = state.modes;
  record.device = {state.devices.data(), state.device_count};
  record.batch = {state.tensors.data(), state.tensor_count};
  record.warnings = {state.warnings.data(), state.warning_count};
}

}  // namespace

collector::RecordPlace to_record(std::string_view entry_point,
                                 const Place& place) noexcept {
  collector::RecordPlace out;
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

void fill_crumbs(CaptureStorage& storage,
                 const collector::BlackBox& box) noexcept {
  std::array<collector::BoxCrumb, collector::BlackBox::kCrumbs> crumbs;
  collector::TickClock clock = box.clock;
  clock.calibrate();
  std::size_t count = 0;
  for (const collector::BoxCrumb& crumb :
       std::span(crumbs).first(box.read(crumbs))) {
    const Place place = from_box({.what = crumb.what});
    collector::RecordBreadcrumb out;
    out.hook = to_string(place.hook);
    out.component = place.component.name();
    out.phase = collector::CrumbPhase::kBefore;
    out.steady_nano = clock.steady_nanos(crumb.begin_ticks);
    storage.crumbs[count++] = out;
    if (crumb.end_ticks) {
      out.phase = collector::CrumbPhase::kAfter;
      out.steady_nano = clock.steady_nanos(*crumb.end_ticks);
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
  const std::int64_t steps = run.place().step - storage.firing.step;
  if (storage.firing.step >= 0 && steps >= 0) {
    storage.record.manifested_after_steps = steps;
  }
}

void fill_telemetry(CaptureStorage& storage, const Run& run) noexcept {
  const Telemetry& telemetry = run.telemetry();
  for (std::size_t i = 0; i < telemetry.size(); ++i) {
    const StepSeen seen = telemetry[i];
    storage.telemetry[i] = {seen.step, seen.loss, seen.micros};
  }
  storage.record.telemetry = {storage.telemetry.data(), telemetry.size()};
}

void fill_cleanup(CaptureStorage& storage,
                  const CleanupOfRun& cleanup) noexcept {
  const std::size_t suppressed = fill_suppressed(storage, cleanup.errors);
  const auto wrong = static_cast<std::size_t>(
      std::count_if(cleanup.notes.begin(), cleanup.notes.end(), went_wrong));
  // What went wrong is worth more than what went well.
  std::size_t well =
      storage.cleanup.size() - std::min(wrong, storage.cleanup.size());
  std::size_t count = 0;
  for (const CleanupNote& note : cleanup.notes) {
    if (count == storage.cleanup.size()) {
      break;
    }
    if (!went_wrong(note)) {
      if (well == 0) {
        continue;
      }
      --well;
    }
    collector::RecordCleanup& out = storage.cleanup[count++];
    out = {};
    out.step = note.step;
    out.component = note.component.name();
    out.outcome = static_cast<collector::CleanupOutcome>(note.outcome);
    out.micros = note.micros;
    out.error = error_of(storage, note, suppressed);
  }
  storage.record.suppressed = {storage.suppressed.data(), suppressed};
  storage.record.suppressed_total = cleanup.errors_total;
  storage.record.cleanup = {storage.cleanup.data(), count};
  storage.record.cleanup_total = cleanup.notes_total;
}

void fill_state_of_hang(CaptureStorage& storage, std::int32_t thread_id,
                        collector::Record& record) noexcept {
  storage.state = {};
  probe_hang(thread_id, storage.state);
  put_in(storage.state, record);
}

void fill_state(CaptureStorage& storage, const Run& run) noexcept {
  collector::Record& record = storage.record;
  storage.state = {};
  probe_state(run, storage.chain, storage.state);
  put_in(storage.state, record);
  record.process = sample_process();
  fill_telemetry(storage, run);
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

}  // namespace mishap
