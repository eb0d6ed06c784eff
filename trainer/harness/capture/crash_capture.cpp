#include <mishap/collector/clock.h>
#include <mishap/collector/crash/process_phase.h>
#include <mishap/collector/record_writer.h>
#include <mishap/collector/uuid.h>
#include <mishap/trainer/guard/worker_thread.h>
#include <mishap/trainer/harness/capture/crash_capture.h>
#include <mishap/trainer/harness/capture/crash_report.h>
#include <mishap/trainer/harness/capture/open_runs.h>
#include <mishap/trainer/harness/capture/prepared_facts.h>
#include <mishap/trainer/harness/capture/process_sample.h>
#include <mishap/trainer/harness/capture/record_parts.h>
#include <mishap/trainer/harness/capture/reproduce.h>
#include <unistd.h>

#include <array>
#include <atomic>

namespace mishap {
namespace {

// What a crash outside every run needs, made before one can happen.
struct Outside {
  std::atomic<collector::RecordSink*> sink{nullptr};
  CaptureStorage storage{};
  std::array<char, 8192> reproduce{};
};

constinit std::atomic<Outside*> outside{nullptr};
constinit std::array<char, collector::kRunRowBufferBytes> row_buffer{};

void tell_outside(const collector::Crash& crash, Outside& place) noexcept {
  CaptureStorage& storage = place.storage;
  collector::RecordSink& sink = *place.sink.load();
  storage.reset();
  const collector::Uuid record_id = collector::make_uuid();
  const collector::Uuid run_id = collector::make_uuid();
  collector::Record& record = storage.record;
  record.record_id = record_id.view();
  record.run_id = run_id.view();
  record.kind = collector::RecordKind::kCrash;
  record.process_phase = collector::process_phase();
  record.fault.status = fault_status();
  record.process = sample_process();
  fill_crash_exceptions(storage, crash);
  fill_crash(crash, record);
  record.reproduce = prepared_reproduce(place.reproduce, {});
  storage.labels.put_on(record);
  const std::size_t size = write_record(record, storage.line);
  const bool is_kept = sink.append_record({storage.line.data(), size});
  collector::RunRow row;
  row.run_id = record.run_id;
  row.start_unix_nano = record.time_unix_nano;
  row.record_ids = {&record.record_id, 1};
  append_crash_row(sink, row, storage);
  report_crash(record, crash, sink.records_path(),
               is_kept ? RecordFate::kWritten : RecordFate::kLost);
}

class Teller final : public collector::CrashTeller {
 public:
  void tell(const collector::Crash& crash) noexcept override {
    // The runs' own memory may be what is damaged; their slots tell of them.
    if (!crash.is_second_try && OpenRun::crash_all(crash)) {
      return;
    }
    if (Outside* const place = outside.load()) {
      tell_outside(crash, *place);
    }
  }
};

// Never destroyed: static objects may fail when they are.
Teller& teller() {
  static auto* const instance = new Teller;
  return *instance;
}

void register_worker(const char* role) noexcept {
  // The main thread belongs to the run on it.
  if (gettid() != getpid()) {
    collector::register_thread_until_exit(role);
  }
}

std::optional<std::uint32_t> row_module(int module, void* storage) {
  return static_cast<CaptureStorage*>(storage)->row_module(module);
}

}  // namespace

void prepare_for_crashes() {
  static const bool is_set = [] {
    collector::set_crash_teller(&teller());
    set_worker_registrar(register_worker);
    return true;
  }();
  static_cast<void>(is_set);
  prepare_facts();
}

void record_crashes_outside(collector::RecordSink& sink) {
  prepare_for_crashes();
  static auto* const place = new Outside;
  place->sink.store(&sink);
  outside.store(place);
}

collector::RecordStack fill_crash_stack(
    CaptureStorage& storage, const collector::Crash& crash) noexcept {
  const collector::RecordStack stack =
      fill_stack(crash, std::span(storage.frames).subspan(storage.frame_count),
                 std::span(storage.repeats).subspan(storage.repeat_count),
                 row_module, &storage);
  storage.frame_count += stack.frames.size();
  storage.repeat_count += stack.repeats.size();
  return stack;
}

void fill_crash_exceptions(CaptureStorage& storage,
                           const collector::Crash& crash) noexcept {
  collector::Record& record = storage.record;
  if (crash.error == nullptr) {
    collector::RecordException& only = storage.exceptions.front();
    only = {};
    only.type = crash.type;
    only.message = crash.message.view();
    only.stack = fill_crash_stack(storage, crash);
    record.exceptions = {&only, 1};
    return;
  }
  storage.chain.describe(*crash.error);
  fill_exceptions(storage, {}, FrameDetail::kLocated,
                  collector::StackOrigin::kTerminate);
  collector::RecordStack& outermost = storage.exceptions.front().stack;
  if (!record.exceptions.empty() &&
      outermost.origin == collector::StackOrigin::kTerminate) {
    outermost = fill_crash_stack(storage, crash);
  }
  if (crash.while_unwinding == nullptr) {
    return;
  }
  storage.secondary.describe(*crash.while_unwinding);
  if (storage.secondary.entries().empty()) {
    return;
  }
  const collector::ChainEntry& entry = storage.secondary.entries().front();
  collector::RecordSuppressed& second = storage.suppressed.front();
  second = {};
  second.step = "unwinding";
  second.type = entry.type;
  second.message = message_of(entry);
  record.suppressed = {&second, 1};
}

void append_crash_row(collector::RecordSink& sink, collector::RunRow& row,
                      const CaptureStorage& storage) noexcept {
  std::array<collector::RunModule, CaptureStorage::kMaxModules> modules;
  fill_prepared(row);
  row.modules = {
      modules.data(),
      fill_prepared_modules(
          std::span(storage.modules).first(storage.module_count), modules)};
  row.pid = getpid();
  row.outcome = collector::RunOutcome::kCrashed;
  row.end_unix_nano = collector::Clock::system().unix_nano();
  const std::size_t size = write_run_row(row, row_buffer);
  sink.append_run({row_buffer.data(), size});
}

}  // namespace mishap
