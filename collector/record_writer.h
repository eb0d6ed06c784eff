#pragma once

#include <mishap/collector/record.h>

#include <cstddef>
#include <span>

namespace mishap::collector {

/// Enough for every record: what does not fit is shortened.
inline constexpr std::size_t kRecordBufferBytes = 64 * 1024;

/// Limits of one line. A list beyond its limit loses its tail, except that of
/// breadcrumbs, telemetry and warnings the newest stay and of frames those of
/// the program; a text beyond its limit
/// is cut between two characters; of a command (`reproduce`) nothing is
/// left, since half a command is worse than none. Each loss is listed in
/// `truncated` with what was kept and what there was.
struct RecordLimits {
  /// A longer line gives up its oldest breadcrumbs, then frames of others,
  /// down to a handful, if that makes it as short as this.
  std::size_t small_bytes = 7'900;
  std::size_t message_bytes = 4096;
  std::size_t text_bytes = 1024;
  std::size_t name_bytes = 512;
  std::size_t command_bytes = 8192;
  /// Of `exit.stderr_tail`.
  std::size_t tail_bytes = 8192;
  std::size_t exceptions = 8;
  std::size_t frames = 40;
  /// Frames of each stack in `threads`.
  std::size_t thread_frames = 32;
  std::size_t threads = 256;
  /// Hooks; those of several components in a row count as one.
  std::size_t breadcrumbs = 24;
  std::size_t items = 64;
};

/// Writes the record as one line of JSON with its newline and returns the
/// line's length.
///
/// A line that does not fit is written again with all limits halved, as often
/// as necessary; 0 means that the buffer is too small even for that, which
/// kRecordBufferBytes never is. Never allocates, locks or throws:
/// async-signal-safe. Takes about 32 KB of stack.
std::size_t write_record(const Record& record, std::span<char> buffer,
                         const RecordLimits& limits = {}) noexcept;

}  // namespace mishap::collector
