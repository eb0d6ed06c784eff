#include <cxxabi.h>
#include <mishap/collector/clock.h>
#include <mishap/collector/crash/process_phase.h>
#include <mishap/collector/exception_chain.h>
#include <mishap/collector/label/label.h>
#include <mishap/collector/record_writer.h>
#include <mishap/collector/throw_site.h>
#include <mishap/collector/uuid.h>
#include <mishap/faultinject/plan_error.h>
#include <mishap/trainer/harness/capture/recorded_errors.h>
#include <mishap/trainer/harness/capture/reproduce.h>
#include <mishap/trainer/harness/capture/sinks.h>
#include <mishap/trainer/harness/guard.h>
#include <mishap/trainer/harness/guarded_program.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

namespace mishap {
namespace {

// What comes after the work is the end of the process: exit handlers, static
// objects.
class MainPhase {
 public:
  MainPhase() noexcept {
    collector::set_process_phase(collector::ProcessPhase::kRunning);
  }
  ~MainPhase() {
    collector::set_process_phase(collector::ProcessPhase::kExiting);
  }
  MainPhase(const MainPhase&) = delete;
  MainPhase& operator=(const MainPhase&) = delete;
};

// What the handler needs, made before a signal can come.
struct OutsideRecord {
  collector::RecordSink* sink = nullptr;
  std::string reproduce;
  collector::Labels labels;
  std::array<char, collector::kRecordBufferBytes> line{};
};
OutsideRecord* outside = nullptr;

// In a signal handler, with no run to honour the signal.
void record_and_exit(const signals::Received& received) {
  const collector::Uuid record_id = collector::make_uuid();
  collector::Record record;
  record.record_id = record_id.view();
  record.time_unix_nano = collector::Clock::system().unix_nano();
  record.steady_nano = collector::Clock::system().steady_nano();
  record.sequence = collector::next_sequence();
  record.kind = collector::RecordKind::kInterrupt;
  record.thread.id = gettid();
  record.process.pid = getpid();
  record.interrupt.signal = signals::name(received.signal);
  record.interrupt.number = received.signal;
  if (received.sender > 0) {
    record.interrupt.sender_pid = received.sender;
  }
  record.interrupt.delay_micros = 0;
  record.reproduce = outside->reproduce;
  outside->labels.put_on(record);
  const std::size_t size = write_record(record, outside->line);
  outside->sink->append_record({outside->line.data(), size});
  _exit(128 + received.signal);
}

// An error that no guard saw gets its record here, with no entry point.
void record_unguarded(const std::exception_ptr& error) {
  if (find_recorded(error)) {
    return;
  }
  HarnessOptions options;
  options.guard.handle_signals = false;
  try {
    guard(
        "", [&](Run&) { std::rethrow_exception(error); }, options);
  } catch (...) {
    // The same error; its status is taken below.
  }
}

int status_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const InputError&) {
    return 2;
  } catch (const faultinject::PlanError&) {
    return 2;
  } catch (const ContractViolated&) {
    return 3;
  } catch (const Interrupted& interrupted) {
    return 128 + interrupted.signal();
  } catch (...) {
    return 1;
  }
}

}  // namespace

int guarded_main(int /*argc*/, char** /*argv*/,
                 const std::function<void()>& work) {
  try {
    const collector::ThrowCaptureScope throws;
    const GuardedProgram program;
    const MainPhase phase;
    record_crashes();
    if (outside == nullptr) {
      auto* made = new OutsideRecord;
      made->sink = &sink_for({});
      made->reproduce = reproduce_command({});
      outside = made;
      signals::install_outside_action(record_and_exit);
    }
    work();
    return 0;
  } catch (const faultinject::PlanError& error) {
    std::fprintf(stderr, "mishap: %s\n", error.what());
    return 2;
  } catch (const abi::__forced_unwind&) {
    // pthread_exit() or a cancellation: nothing to answer for.
    throw;
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    record_unguarded(error);
    return status_of(error);
  }
}

}  // namespace mishap
