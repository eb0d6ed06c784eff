#pragma once

#include <mishap/collector/record.h>
#include <mishap/collector/record/join_crumbs.h>
#include <mishap/collector/record/line.h>
#include <mishap/collector/record_writer.h>

#include <cstddef>
#include <span>

namespace mishap::collector {

/// What a list takes up in a line.
struct Share {
  std::size_t items = 0;
  std::size_t bytes = 0;

  /// Bytes that the line loses when so many items stay.
  std::size_t saving(std::size_t kept) const noexcept;
  /// How many items may stay so that the line loses `excess` bytes; `least`
  /// when even that is not enough.
  std::size_t kept_to_save(std::size_t excess,
                           std::size_t least) const noexcept;
};

/// One record as one line, with given limits. Async-signal-safe.
class RecordLine {
 public:
  RecordLine(const Record& record, std::span<char> buffer,
             const RecordLimits& limits) noexcept
      : record_(record),
        limits_(limits),
        line_(buffer, limits.text_bytes, limits.name_bytes) {}

  /// Length of the line, 0 when it does not fit.
  std::size_t write() noexcept;

  /// Of the line just written.
  Share breadcrumbs() const noexcept { return breadcrumbs_; }
  /// All frames of the exceptions; the items are those of the longest stack.
  Share frames() const noexcept { return frames_; }

 private:
  static constexpr std::size_t kMaxRepeats = 16;

  void write_identity() noexcept;
  void write_where() noexcept;
  void write_what() noexcept;
  void write_state() noexcept;
  void write_before() noexcept;
  void write_label() noexcept;
  void write_place(const RecordPlace& place) noexcept;
  void write_exception(const RecordException& exception) noexcept;
  void write_stack(const RecordStack& stack, std::size_t limit) noexcept;
  void write_repeats(const RecordStack& stack, std::size_t limit) noexcept;
  void write_frame(const RecordFrame& frame) noexcept;
  void write_signal(const RecordSignal& signal) noexcept;
  void write_exit(const RecordExit& exit) noexcept;
  void write_modes(const RecordModes& modes) noexcept;
  void write_crumb(const JoinedCrumb& crumb) noexcept;

  const Record& record_;
  const RecordLimits& limits_;
  Line line_;
  Share breadcrumbs_;
  Share frames_;
};

}  // namespace mishap::collector
