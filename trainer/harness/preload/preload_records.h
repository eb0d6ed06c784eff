#pragma once

#include <mishap/collector/crash/crash.h>
#include <mishap/collector/exception_chain.h>
#include <mishap/collector/label/label.h>
#include <mishap/collector/pending_slot.h>
#include <mishap/collector/record.h>
#include <mishap/collector/record_writer.h>
#include <mishap/collector/run_row.h>
#include <mishap/collector/sink.h>
#include <mishap/collector/uuid.h>
#include <mishap/faultinject/firing.h>
#include <mishap/trainer/harness/preload/throw_notes.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace mishap::preload {

/// The one record of a process that was preloaded, with all its memory reserved
/// when the process starts.
///
/// Under a watcher it is left in a pending slot, so that the watcher adds how
/// the process ended and what it wrote on stderr. Otherwise it goes to the file
/// at once.
class PreloadRecords final : public collector::CrashTeller {
 public:
  PreloadRecords(const std::string& folder, bool is_watched);

  void tell(const collector::Crash& crash) noexcept override;

  /// The process exits. With a status other than 0, after something was thrown
  /// or a planned fault has struck: a record of kind `exit` with the exception
  /// that was thrown last.
  void tell_exit(int status) noexcept;

 private:
  static constexpr std::size_t kFrames = 96;
  static constexpr std::size_t kModules = 96;

  void begin(collector::RecordKind kind) noexcept;
  void fill(const collector::Crash& crash) noexcept;
  void fill(const ThrowNote& note) noexcept;
  collector::RecordStack stack_of(const collector::RawTrace& trace,
                                  collector::StackOrigin origin) noexcept;
  collector::RecordStack stack_of(const collector::Crash& crash) noexcept;
  std::optional<std::uint32_t> row_module(int module) noexcept;
  static std::optional<std::uint32_t> row_module(int module, void* self);
  void fill_fault() noexcept;
  void leave() noexcept;
  void append_row(collector::RunOutcome outcome) noexcept;

  collector::RecordSink sink_;
  collector::PendingSlot slot_;
  collector::Uuid run_id_;
  collector::Uuid record_id_;
  collector::Record record_;
  collector::Labels labels_;
  collector::ExceptionChain chain_;
  ThrowNote thrown_;
  faultinject::FiringLabel firing_;
  std::string type_;
  std::array<std::string_view, 1> notes_;
  std::array<collector::RecordException, collector::ExceptionChain::kMaxDepth>
      exceptions_;
  std::array<collector::RecordFrame, kFrames * 2> frames_;
  std::size_t frame_count_ = 0;
  std::array<collector::RecordRepeat, 32> repeats_;
  std::size_t repeat_count_ = 0;
  std::array<int, kModules> modules_{};
  std::size_t module_count_ = 0;
  std::int64_t start_unix_nanos_ = 0;
  std::int64_t start_steady_nanos_ = 0;
  std::array<char, collector::kRecordBufferBytes> line_;
};

}  // namespace mishap::preload
