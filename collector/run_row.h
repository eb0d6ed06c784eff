#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mishap::collector {

enum class RunOutcome : std::uint8_t {
  kSuccess,
  kFailed,
  kInterrupted,
  kCrashed,
  kKilled,
  kHung,
};

/// An open set of facts is a list of these, never an object with open keys.
struct NameValue {
  std::string_view name;
  std::string_view value;
};

/// One mapped file of the process. A frame's `module` is an index into the
/// list of these.
struct RunModule {
  std::string_view path;
  /// GNU build-id in hex digits.
  std::string_view build_id;
  std::uint64_t load_address = 0;
  std::uint64_t size = 0;
};

/// An exception object that was thrown in the run, is still alive when it ends
/// and in no record of it: kept, or never asked for.
struct RunLiveException {
  /// Demangled dynamic type.
  std::string_view type;
  /// The kernel's id of the thread that threw it.
  std::int64_t thread_id = 0;
  /// Since the throw.
  std::int64_t age_micros = 0;
  /// The innermost function of the program on its stack.
  std::string_view function;
  std::optional<std::uint32_t> module;
  std::optional<std::uint64_t> offset;
};

/// Versions of what the program was built from.
struct RunBuild {
  std::string_view mishap;
  std::string_view compiler;
  std::string_view libtorch;
  std::string_view boost;
  /// Release, RelWithDebInfo, ...
  std::string_view type;
};

struct RunHost {
  std::string_view name;
  /// "Linux 6.1.0-18-amd64 x86_64".
  std::string_view system;
  std::optional<std::int64_t> cpus;
  std::optional<std::int64_t> memory_bytes;
};

/// The batch job and the container around the process; empty outside of one.
struct RunJob {
  /// slurm, pbs, lsf, sge, torchrun, github_actions, gitlab_ci, jenkins or
  /// kubernetes.
  std::string_view scheduler;
  std::string_view id;
  std::string_view step;
  std::string_view nodes;
  /// docker, podman, kubernetes, apptainer, other.
  std::string_view container;
};

/// What all records of one run share: one line of `runs.jsonl`. The same rules
/// as for Record: views into the caller's storage, every key always written.
struct RunRow {
  std::string_view run_id;
  std::string_view parent_run_id;
  std::string_view entry_point;
  std::int64_t start_unix_nano = 0;
  std::int64_t end_unix_nano = 0;
  /// By the steady clock.
  std::int64_t duration_micros = 0;
  RunOutcome outcome = RunOutcome::kSuccess;
  RunBuild build;
  std::span<const RunModule> modules;
  RunHost host;
  RunJob job;
  std::optional<std::int64_t> pid;
  std::string_view working_directory;
  std::span<const std::string_view> command_line;
  std::span<const NameValue> environment;
  std::span<const NameValue> options;
  std::optional<std::uint64_t> seed;
  std::span<const std::string_view> record_ids;
  std::span<const RunLiveException> live_exceptions;
};

/// Enough for every row.
inline constexpr std::size_t kRunRowBufferBytes = 256 * 1024;

/// Writes the row as one line of JSON with its newline and returns the line's
/// length; 0 when the buffer is too small. Shortens like write_record().
/// Never allocates, locks or throws: async-signal-safe.
std::size_t write_run_row(const RunRow& row, std::span<char> buffer) noexcept;

}  // namespace mishap::collector
