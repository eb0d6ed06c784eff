#include "sample_records.h"

#include <mishap/collector/record_writer.h>

#include <array>
#include <cmath>
#include <limits>

namespace mishap::collector::samples {
namespace {

constexpr std::string_view kRecordId = "01980000-0000-7000-8000-000000000001";
constexpr std::string_view kRunId = "01980000-0000-7000-8000-0000000000aa";
constexpr std::string_view kOuterRunId = "01980000-0000-7000-8000-0000000000bb";
constexpr std::string_view kInnerId = "01980000-0000-7000-8000-000000000002";
constexpr std::int64_t kNow = 1'750'000'000'123'456'789;
constexpr std::int64_t kSteady = 86'400'000'000'000;
constexpr std::string_view kBadText =
    "caf\xe9 \xc0\xaf \xed\xa0\x80 \x1b[31m \"quoted\" \\ \t\n\x7f \u20ac";

std::vector<RecordFrame> raw_frames(std::size_t count) {
  std::vector<RecordFrame> frames(count);
  for (std::size_t i = 0; i < count; ++i) {
    frames[i].address = 0x7f12'3456'0000 + 0x1234 * i;
    frames[i].module = static_cast<std::uint32_t>(i % 5);
    frames[i].offset = 0x1'0000 + 0x1234 * i;
    frames[i].in_app = i == 3;
  }
  return frames;
}

// The hooks of a training run as a guard tells them: each before and after.
std::vector<RecordBreadcrumb> hooks_of_steps() {
  constexpr std::array<std::string_view, 8> kHooks = {
      "on_train_batch_start", "training_step",     "on_before_zero_grad",
      "on_before_backward",   "on_after_backward", "on_before_optimizer_step",
      "on_train_batch_end",   "load_batch"};
  constexpr std::array<std::string_view, 4> kComponents = {
      "callback.Progress", "callback.EarlyStopping", "module", "logger.Csv"};
  std::vector<RecordBreadcrumb> crumbs;
  std::int64_t now = kSteady - 5'000'000;
  for (std::size_t i = 0; crumbs.size() < 63; ++i) {
    for (std::size_t c = 0; c < kComponents.size(); ++c) {
      for (const auto phase : {CrumbPhase::kBefore, CrumbPhase::kAfter}) {
        crumbs.push_back({.hook = kHooks[i % kHooks.size()],
                          .component = kComponents[c],
                          .phase = phase,
                          .steady_nano = now});
        now += 20'000;
      }
    }
  }
  crumbs.resize(63);
  crumbs.push_back({.hook = "training_step",
                    .component = "module",
                    .phase = CrumbPhase::kBefore,
                    .steady_nano = kSteady - 40'000});
  return crumbs;
}

RecordPlace training_step() {
  return {.entry_point = "fit",
          .stage = "train",
          .hook = "training_step",
          .component = "module",
          .epoch = 1,
          .batch_index = 12,
          .global_step = 40};
}

}  // namespace

Record minimal() {
  Record record;
  record.record_id = kRecordId;
  record.run_id = kRunId;
  record.time_unix_nano = kNow;
  record.steady_nano = kSteady;
  record.sequence = 1;
  return record;
}

Record typical() {
  static const auto frames = raw_frames(20);
  static const std::array exceptions = {
      RecordException{.type = "c10::IndexError",
                      .message = "Target 11 is out of bounds.",
                      .native_backtrace = {},
                      .code = std::nullopt,
                      .stack = {.origin = StackOrigin::kThrow,
                                .truncated = false,
                                .frames = frames}}};
  static const auto crumbs = hooks_of_steps();
  static const std::array cleanup = [] {
    constexpr std::array<std::string_view, 4> kComponents = {
        "callback.Progress", "callback.EarlyStopping", "data", "module"};
    std::array<RecordCleanup, 12> steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i].step = i < 4   ? "on_exception"
                      : i < 8 ? "teardown"
                              : "restore_process_state";
      steps[i].component =
          i < 8 ? kComponents[i % kComponents.size()] : std::string_view{};
      steps[i].micros = 3;
    }
    return steps;
  }();
  static const std::array<std::int64_t, 2> shape = {32, 64};
  static const std::array batch = {RecordTensor{.name = "data",
                                                .shape = shape,
                                                .dtype = "float32",
                                                .device = "cpu",
                                                .min = 0.0,
                                                .max = 16.0,
                                                .nan_count = 0}};
  static const std::array device = {RecordDevice{.name = "cpu",
                                                 .allocated_bytes = 1'050'000,
                                                 .reserved_bytes = {},
                                                 .free_bytes = {},
                                                 .peak_bytes = 2'100'000}};
  Record record = minimal();
  record.place = training_step();
  record.thread = {.id = 4242, .name = "digits", .role = "main"};
  record.exceptions = exceptions;
  record.cleanup = cleanup;
  record.device = device;
  record.process = {.pid = 4242,
                    .rss_bytes = 230'000'000,
                    .peak_rss_bytes = 250'000'000,
                    .threads = 3,
                    .fds = 9};
  record.modes = {.grad_enabled = true,
                  .inference_mode = false,
                  .anomaly = false,
                  .deterministic = false,
                  .default_dtype = "float32",
                  .training = true,
                  .intra_op_threads = 1,
                  .inter_op_threads = 1};
  record.batch = batch;
  record.weights = WeightState::kConsistent;
  record.breadcrumbs = crumbs;
  record.fault = {
      .status = FaultStatus::kArmed,
      .point = "hook/training_step/module",
      .hit = 41,
      .action = "throw(c10_index)",
      .spec = "hook/training_step/module=40*off->1*throw(c10_index)",
      .seed = 7};
  record.reproduce =
      "mishap run digits --entry fit --seed 7 --faults "
      "'hook/training_step/module=40*off->1*throw(c10_index)'";
  return record;
}

Record maximal() {
  static const std::array frames = {
      RecordFrame{.address = std::numeric_limits<std::uintptr_t>::max(),
                  .module = 4,
                  .offset = 0x1f2e,
                  .symbol = "_ZN3app3Net7forwardEv",
                  .function = "app::Net::forward()",
                  .file = "/srv/app/net.cpp",
                  .line = 42,
                  .inlined = true,
                  .in_app = true}};
  static const std::array repeats = {
      RecordRepeat{.first = 0, .frames = 1, .times = 31}};
  static const RecordStack stack = {.origin = StackOrigin::kThrow,
                                    .truncated = true,
                                    .frames = frames,
                                    .repeats = repeats};
  static const std::array exceptions = {
      RecordException{.type = "std::system_error",
                      .message = "cannot save \xff: Input/output error",
                      .message_size = 100'000,
                      .message_hash = 0x0123'4567'89ab'cdef,
                      .native_backtrace = "frame #0: app::Net::forward()",
                      .code = 5,
                      .stack = stack},
      RecordException{.type = "int",
                      .message = {},
                      .native_backtrace = {},
                      .code = {},
                      .stack = {}}};
  static const std::array registers = {
      RecordRegister{.name = "rip", .value = 0x4012'34}};
  static const std::array threads = {
      RecordThreadStack{.id = 4243,
                        .name = "worker",
                        .role = "worker",
                        .state = "S futex_wait_queue",
                        .stack = {.origin = StackOrigin::kWatchdog,
                                  .truncated = false,
                                  .frames = frames,
                                  .repeats = repeats}}};
  static const std::array suppressed = {
      RecordSuppressed{.step = "teardown",
                       .component = "callback.Spy",
                       .type = "std::runtime_error",
                       .message = "second"}};
  static const std::array cleanup = {
      RecordCleanup{.step = "on_exception",
                    .component = "callback.Spy",
                    .outcome = CleanupOutcome::kRan,
                    .micros = 4,
                    .error = {}},
      RecordCleanup{.step = "teardown",
                    .component = "callback.Spy",
                    .outcome = CleanupOutcome::kFailed,
                    .micros = 70,
                    .error = "std::runtime_error: second"},
      RecordCleanup{.step = "teardown",
                    .component = "module",
                    .outcome = CleanupOutcome::kTimedOut,
                    .micros = 30'000'000,
                    .error = {}},
      RecordCleanup{.step = "finalize",
                    .component = "logger.Csv",
                    .outcome = CleanupOutcome::kSkipped,
                    .micros = 0,
                    .error = {}}};
  static const std::array device = {RecordDevice{.name = "cuda:0",
                                                 .allocated_bytes = 1'000,
                                                 .reserved_bytes = 2'000,
                                                 .free_bytes = 80'000'000'000,
                                                 .peak_bytes = 3'000}};
  static const std::array<std::int64_t, 3> shape = {32, 1, 64};
  static const std::array batch = {
      RecordTensor{.name = "data",
                   .shape = shape,
                   .dtype = "float32",
                   .device = "cuda:0",
                   .min = -1.5,
                   .max = 2.0,
                   .nan_count = 0},
      RecordTensor{.name = "target",
                   .shape = {},
                   .dtype = "float32",
                   .device = "cuda:0",
                   .min = -std::numeric_limits<double>::infinity(),
                   .max = std::nan(""),
                   .nan_count = 3}};
  static const std::array warnings = {
      RecordWarning{.message = "an output was resized", .count = 12}};
  static const std::array crumbs = {
      RecordBreadcrumb{.hook = "on_train_batch_start",
                       .component = "callback.Spy",
                       .phase = CrumbPhase::kBefore,
                       .steady_nano = kSteady - 9'000'000},
      RecordBreadcrumb{.hook = "on_train_batch_start",
                       .component = "callback.Spy",
                       .phase = CrumbPhase::kAfter,
                       .steady_nano = kSteady - 8'000'000},
      RecordBreadcrumb{.hook = "training_step",
                       .component = "module",
                       .phase = CrumbPhase::kBefore,
                       .steady_nano = kSteady - 7'000'000}};
  static const std::array telemetry = {
      RecordTelemetry{.step = 39, .loss = 0.25, .step_micros = 812},
      RecordTelemetry{.step = 40,
                      .loss = std::numeric_limits<double>::infinity(),
                      .step_micros = 799}};
  static const std::array<std::string_view, 2> parts = {"std::system_error",
                                                        "app::Net::forward"};
  static const std::array<std::string_view, 1> notes = {
      "cannot append to records.jsonl: write: No space left on device"};
  Record record = typical();
  record.parent_run_id = kOuterRunId;
  record.inner_record_id = kInnerId;
  record.sequence = std::numeric_limits<std::uint64_t>::max();
  record.kind = RecordKind::kHang;
  record.rank = 3;
  record.world_size = 8;
  record.process_phase = ProcessPhase::kForkedChild;
  record.interrupt = {.signal = "SIGINT",
                      .number = 2,
                      .sender_pid = 1,
                      .at = training_step(),
                      .honoured = training_step(),
                      .delay_micros = 1'234};
  record.exceptions = exceptions;
  record.signal = {.number = 11,
                   .name = "SIGSEGV",
                   .code = 1,
                   .code_name = "SEGV_MAPERR",
                   .address = 8,
                   .sender_pid = 4242};
  record.registers = registers;
  record.exit = {.status = 0,
                 .signal = 9,
                 .oom_kills_before = 0,
                 .oom_kills_after = 1,
                 .memory_peak_bytes = 1 << 30,
                 .memory_limit_bytes = 1 << 30,
                 .stderr_tail = "Killed\n"};
  record.threads = threads;
  record.suppressed = suppressed;
  record.cleanup = cleanup;
  record.device = device;
  record.batch = batch;
  record.weights = WeightState::kPartial;
  record.resume = {
      .path = "runs/last.ckpt", .step = 30, .checksum = "sha256:00ff"};
  record.warnings = warnings;
  record.breadcrumbs = crumbs;
  record.telemetry = telemetry;
  record.manifested_after_steps = 2;
  record.category = {.name = "storage", .evidence = "EIO from write"};
  record.fingerprint = {.version = 1, .hash = "00ff00ff", .parts = parts};
  record.occurrence_count = 12;
  record.notes = notes;
  record.thread.name = "worker \xfe";
  return record;
}

Record hostile() {
  static const std::array frames = {RecordFrame{.address = 1,
                                                .module = {},
                                                .offset = {},
                                                .symbol = kBadText,
                                                .function = kBadText,
                                                .file = kBadText,
                                                .line = 0,
                                                .inlined = false,
                                                .in_app = {}}};
  static const std::array exceptions = {
      RecordException{.type = kBadText,
                      .message = kBadText,
                      .native_backtrace = kBadText,
                      .code = -1,
                      .stack = {.origin = StackOrigin::kCatch,
                                .truncated = false,
                                .frames = frames}}};
  static const std::array telemetry = {
      RecordTelemetry{.step = 0, .loss = std::nan(""), .step_micros = {}}};
  static const std::array<std::string_view, 2> texts = {kBadText, ""};
  Record record = minimal();
  record.place = {.entry_point = kBadText,
                  .stage = "train",
                  .hook = kBadText,
                  .component = kBadText,
                  .epoch = {},
                  .batch_index = {},
                  .global_step = std::numeric_limits<std::int64_t>::max()};
  record.thread = {.id = 1, .name = kBadText, .role = kBadText};
  record.exceptions = exceptions;
  record.telemetry = telemetry;
  record.fingerprint.parts = texts;
  record.resume.path = kBadText;
  record.reproduce = kBadText;
  record.notes = texts;
  return record;
}

RunRow minimal_run() {
  RunRow row;
  row.run_id = kRunId;
  row.start_unix_nano = kNow - 2'000'000'000;
  row.end_unix_nano = kNow;
  row.duration_micros = 2'000'000;
  return row;
}

RunRow maximal_run() {
  static const std::array modules = {RunModule{.path = "/usr/bin/train",
                                               .build_id = "00ff",
                                               .load_address = 0x5555'0000'0000,
                                               .size = 0x1000}};
  static const std::array<std::string_view, 2> command = {"train", "--\xff"};
  static const std::array environment = {
      NameValue{.name = "OMP_NUM_THREADS", .value = "1"}};
  static const std::array options = {
      NameValue{.name = "max_epochs", .value = "3"}};
  static const std::array<std::string_view, 1> records = {kRecordId};
  static const std::array alive = {
      RunLiveException{.type = "std::runtime_error",
                       .thread_id = 4243,
                       .age_micros = 1500,
                       .function = "app::load(int)",
                       .module = 0,
                       .offset = 0x10}};
  RunRow row = minimal_run();
  row.parent_run_id = kOuterRunId;
  row.entry_point = "fit";
  row.outcome = RunOutcome::kFailed;
  row.build = {.mishap = "0.1.0",
               .compiler = "GCC 12.2.0",
               .libtorch = "1.13.1",
               .boost = "1.74.0",
               .type = "Release"};
  row.modules = modules;
  row.host = {.name = "node",
              .system = "Linux 6.1.0 x86_64",
              .cpus = 2,
              .memory_bytes = std::int64_t{16} << 30};
  row.job = {.scheduler = "slurm",
             .id = "123",
             .step = "0",
             .nodes = "node[1-2]",
             .container = "apptainer"};
  row.pid = 4242;
  row.working_directory = "/srv/app";
  row.command_line = command;
  row.environment = environment;
  row.options = options;
  row.seed = 7;
  row.record_ids = records;
  row.live_exceptions = alive;
  return row;
}

std::string line_of(const Record& record) {
  std::vector<char> buffer(kRecordBufferBytes);
  const std::size_t size = write_record(record, buffer);
  return {buffer.data(), size == 0 ? 0 : size - 1};
}

std::string line_of(const RunRow& row) {
  std::vector<char> buffer(kRunRowBufferBytes);
  const std::size_t size = write_run_row(row, buffer);
  return {buffer.data(), size == 0 ? 0 : size - 1};
}

}  // namespace mishap::collector::samples
