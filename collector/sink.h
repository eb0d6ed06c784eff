#pragma once

#include <mishap/collector/io/rotation.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mishap::collector {

struct SinkOptions {
  /// Made, with its parents, when the first line is written.
  std::string folder;
  /// Wait until the line is on the disk.
  bool fsync = false;
  /// Longest wait for another writer of the same file.
  std::chrono::milliseconds lock_wait{100};
  /// A file of this size gets no more lines: the first ones are kept, so that
  /// a run that fails without end cannot fill the disk.
  std::int64_t max_file_bytes = std::int64_t{1} << 30;
  /// When a file is put aside and a new one begun; never, unless set. With it
  /// the newest lines are kept.
  Rotation rotation{};
  /// Where a line goes that its file did not take.
  int fallback_fd = 2;
};

/// Failures of the recorder itself, for the `notes` of the next record.
class SinkNotes {
 public:
  static constexpr std::size_t kMax = 4;
  static constexpr std::size_t kMaxBytes = 256;

  /// Valid as long as this object stays where it is.
  std::span<const std::string_view> views() noexcept;

 private:
  friend class RecordSink;
  std::array<std::array<char, kMaxBytes>, kMax> texts_{};
  std::array<std::size_t, kMax> sizes_{};
  std::array<std::string_view, kMax> views_{};
  std::size_t size_ = 0;
};

/// Appends lines to `records.jsonl` and `runs.jsonl` of one folder.
///
/// Several processes and threads may append to the same file, each through
/// its own sink or a shared one. A line is written under a lock by one call; a
/// torn line that a dead writer left is closed first; a line that does not fit
/// on the disk is taken back whole and goes to `fallback_fd` instead, with the
/// reason. A lock that is not had within `lock_wait` is done without: a stopped
/// process may hold it. A sink holds one descriptor for the
/// process, to open its file with when there are no others left.
///
/// After construction nothing here throws, allocates, or waits without bound
/// (the file system itself excepted), and no signal comes of it (SIGPIPE,
/// SIGXFSZ). All members are thread-safe, and async-signal-safe but the
/// constructor.
class RecordSink {
 public:
  explicit RecordSink(SinkOptions options);
  RecordSink(const RecordSink&) = delete;
  RecordSink& operator=(const RecordSink&) = delete;

  /// Appends one line, which ends in a newline, to `records.jsonl`. False when
  /// the line went to the fallback.
  bool append_record(std::string_view line) noexcept;

  /// Appends one line, which ends in a newline, to `runs.jsonl`.
  bool append_run(std::string_view line) noexcept;

  /// How many lines did not reach their file.
  std::uint64_t failures() const noexcept { return failures_.load(); }

  /// Takes the failures that no record has told yet. Give them to the next
  /// record's `notes`. When more than SinkNotes::kMax are waiting, the first
  /// are kept.
  SinkNotes take_notes() noexcept;

  const std::string& folder() const noexcept { return options_.folder; }
  const std::string& records_path() const noexcept { return records_path_; }
  const std::string& runs_path() const noexcept { return runs_path_; }

 private:
  struct Note {
    enum State : int { kFree, kBusy, kReady };
    std::atomic<int> state{kFree};
    std::array<char, SinkNotes::kMaxBytes> text{};
    std::size_t size = 0;
  };

  bool append(const std::string& path, std::string_view line) noexcept;
  void fall_back(const std::string& path, std::string_view line,
                 std::string_view what, int error) noexcept;
  void note(std::string_view text) noexcept;

  const SinkOptions options_;
  const std::string records_path_;
  const std::string runs_path_;
  std::atomic<std::uint64_t> failures_{0};
  std::atomic<bool> full_{false};
  std::array<Note, SinkNotes::kMax> notes_{};
};

/// The folder named by MISHAP_RECORDS, else `fallback`.
std::string records_folder(std::string_view fallback);

/// Finds out whether records could be written there, leaving no trace: nothing
/// when they could, else one sentence with what is wrong and what to do. For
/// use before a run starts; a folder that fails later never changes a run.
std::optional<std::string> probe_folder(const std::string& folder);

}  // namespace mishap::collector
