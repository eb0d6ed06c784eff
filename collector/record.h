#pragma once

#include <mishap/collector/record/failure.h>
#include <mishap/collector/record/history.h>
#include <mishap/collector/record/label.h>
#include <mishap/collector/record/place.h>
#include <mishap/collector/record/state.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mishap::collector {

/// Version of the record's shape; `schema_version` of every line.
inline constexpr std::int32_t kSchemaVersion = 1;

enum class RecordKind : std::uint8_t {
  kError,
  kInterrupt,
  kCrash,
  kKilled,
  kHang,
  kExit,
};

/// Everything that is known of one failure: one line of `records.jsonl`.
///
/// A plain value of views: texts and lists belong to the caller and must live
/// until the record is written, so that building one allocates nothing. An
/// empty view or optional is written as null, an empty span as an empty list;
/// every key is always written. datasets/schema/columns.md lists the keys.
struct Record {
  // Identity. The ids are UUID texts (see uuid.h).
  std::string_view record_id;
  std::int64_t time_unix_nano = 0;
  std::int64_t steady_nano = 0;
  std::uint64_t sequence = 0;
  std::string_view run_id;
  std::string_view parent_run_id;
  /// The record of the nested run from which the same error came.
  std::string_view inner_record_id;
  RecordKind kind = RecordKind::kError;

  // Where. `place` is written as keys of the record itself.
  RecordPlace place;
  std::optional<std::int32_t> rank;
  std::optional<std::int32_t> world_size;
  RecordThread thread;
  ProcessPhase process_phase = ProcessPhase::kRunning;
  RecordInterrupt interrupt;

  // What. `exceptions` are ordered outermost first.
  std::span<const RecordException> exceptions;
  RecordSignal signal;
  std::span<const RecordRegister> registers;
  RecordExit exit;
  std::span<const RecordThreadStack> threads;
  std::span<const RecordSuppressed> suppressed;
  std::span<const RecordCleanup> cleanup;
  /// How many there were, where the lists above hold fewer.
  std::size_t suppressed_total = 0;
  std::size_t cleanup_total = 0;

  // State.
  std::span<const RecordDevice> device;
  RecordProcess process;
  RecordModes modes;
  std::span<const RecordTensor> batch;
  std::optional<WeightState> weights;
  RecordResume resume;
  std::span<const RecordWarning> warnings;

  // Before.
  std::span<const RecordBreadcrumb> breadcrumbs;
  std::span<const RecordTelemetry> telemetry;

  // Label.
  RecordFault fault;
  /// Steps between the firing of the fault and the error.
  std::optional<std::int64_t> manifested_after_steps;
  RecordCategory category;
  RecordFingerprint fingerprint;
  /// How often the process had had an error of its kind by then, those that
  /// were only counted (record_caps.h) and this one included.
  std::optional<std::int64_t> occurrence_count;
  /// One command that makes it happen again.
  std::string_view reproduce;

  /// Earlier failures of the recorder itself (RecordSink::notes).
  std::span<const std::string_view> notes;
};

}  // namespace mishap::collector
