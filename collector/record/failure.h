#pragma once

#include <mishap/collector/raw_trace.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mishap::collector {

/// One frame, innermost first in its stack. A raw frame has only an address,
/// and module and offset where the address lies in a known module; the names
/// can be found later from those two.
struct RecordFrame {
  /// As captured: a return address, except for the first frame of a signal.
  std::uintptr_t address = 0;
  /// Index into the `modules` of the run's row.
  std::optional<std::uint32_t> module;
  /// Address minus the module's load address.
  std::optional<std::uint64_t> offset;
  /// Mangled name.
  std::string_view symbol;
  /// Demangled name.
  std::string_view function;
  std::string_view file;
  std::optional<std::int32_t> line;
  /// The function was inlined into the next frame, which has the same address.
  bool inlined = false;
  /// Code of the user; empty as long as nobody has judged it.
  std::optional<bool> in_app;
};

/// Recursion: `frames` frames from index `first` on came `times` times in a
/// row, and stand in the list once.
struct RecordRepeat {
  std::size_t first = 0;
  std::size_t frames = 0;
  std::size_t times = 0;
};

/// A stack and how it came to be.
struct RecordStack {
  StackOrigin origin = StackOrigin::kNone;
  /// Frames beyond the capture's limit were left out.
  bool truncated = false;
  std::span<const RecordFrame> frames;
  /// In the order of the frames; see fold_frames().
  std::span<const RecordRepeat> repeats = {};
};

/// One exception of a chain.
struct RecordException {
  /// Demangled dynamic type.
  std::string_view type;
  /// Text for people. A null view is written as null: an exception without
  /// what(), or whose what() is null. An empty one stays an empty text.
  std::string_view message;
  /// Length of the whole message and its hash (FNV-1a, 64 bits) where
  /// `message` is only its beginning; 0 where it is the whole.
  std::size_t message_size = 0;
  std::uint64_t message_hash = 0;
  /// The stack text that the thrower put into the exception, as c10::Error
  /// does.
  std::string_view native_backtrace;
  /// errno-like code, where the type has one.
  std::optional<std::int64_t> code;
  RecordStack stack;
};

/// A fatal signal. All empty when none came.
struct RecordSignal {
  std::optional<std::int32_t> number;
  /// SIGSEGV, ...
  std::string_view name;
  std::optional<std::int32_t> code;
  /// SEGV_MAPERR, ...
  std::string_view code_name;
  std::optional<std::uint64_t> address;
  std::optional<std::int64_t> sender_pid;
};

struct RecordRegister {
  std::string_view name;
  std::uint64_t value = 0;
};

/// How a process ended, as its parent saw it. All empty when it went on; a
/// record that the process itself leaves while it ends has the status only.
struct RecordExit {
  std::optional<std::int32_t> status;
  std::optional<std::int32_t> signal;
  /// Out-of-memory evidence of the control group.
  std::optional<std::int64_t> oom_kills_before;
  std::optional<std::int64_t> oom_kills_after;
  std::optional<std::int64_t> memory_peak_bytes;
  std::optional<std::int64_t> memory_limit_bytes;
  std::string_view stderr_tail;
};

/// Another thread of the process and what it was doing.
struct RecordThreadStack {
  std::optional<std::int64_t> id;
  std::string_view name;
  std::string_view role;
  /// State letter and wait channel of the kernel, as "S futex_wait_queue".
  std::string_view state;
  RecordStack stack;
};

/// An error that came after the first one; it is told here and nowhere else.
struct RecordSuppressed {
  /// The cleanup step in which it came; empty in front of them.
  std::string_view step;
  std::string_view component;
  std::string_view type;
  /// Null and empty differ, as in RecordException.
  std::string_view message;
};

enum class CleanupOutcome : std::uint8_t { kRan, kFailed, kSkipped, kTimedOut };

/// One piece of the cleanup, in the order in which they ended.
struct RecordCleanup {
  std::string_view step;
  std::string_view component;
  CleanupOutcome outcome = CleanupOutcome::kRan;
  std::int64_t micros = 0;
  /// Type and text of what it threw.
  std::string_view error;
};

}  // namespace mishap::collector
