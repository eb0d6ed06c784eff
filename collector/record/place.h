#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mishap::collector {

/// Where a run was. Empty views and empty counters are written as null.
struct RecordPlace {
  /// fit, validate, test, predict or the name of an own guard.
  std::string_view entry_point;
  std::string_view stage;
  std::string_view hook;
  std::string_view component;
  /// Counters are zero-based and must fit in 53 bits.
  std::optional<std::int64_t> epoch;
  std::optional<std::int64_t> batch_index;
  std::optional<std::int64_t> global_step;
};

/// The thread that failed.
struct RecordThread {
  /// The kernel's thread id.
  std::optional<std::int64_t> id;
  std::string_view name;
  /// main, caller (of the entry point, when that is another thread), worker.
  std::string_view role;
};

/// How far the process had come.
enum class ProcessPhase : std::uint8_t {
  /// Before main().
  kLoading,
  kRunning,
  /// After main(), or inside exit().
  kExiting,
  /// In a child made by fork() that has not called exec().
  kForkedChild,
};

/// A signal that asked the run to stop. All empty when none came.
struct RecordInterrupt {
  /// SIGINT, SIGTERM.
  std::string_view signal;
  std::optional<std::int32_t> number;
  /// Process that sent it; empty when the kernel did.
  std::optional<std::int64_t> sender_pid;
  /// Where the run was when the signal came.
  RecordPlace at;
  /// The safe point at which the guard honoured it.
  RecordPlace honoured;
  /// Microseconds between the two.
  std::optional<std::int64_t> delay_micros;
};

}  // namespace mishap::collector
