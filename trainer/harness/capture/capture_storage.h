#pragma once

#include <mishap/collector/exception_chain.h>
#include <mishap/collector/record.h>
#include <mishap/collector/record_writer.h>
#include <mishap/collector/run_row.h>
#include <mishap/collector/sink.h>
#include <mishap/collector/uuid.h>
#include <mishap/faultinject/firing.h>
#include <mishap/trainer/guard/telemetry.h>
#include <mishap/trainer/harness/capture/breadcrumbs.h>
#include <mishap/trainer/harness/capture/state_probe.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace mishap {

/// Room for one record, reserved when a run starts so that an exhausted heap
/// does not matter when it fails. About 400 KB.
struct CaptureStorage {
  static constexpr std::size_t kMaxFrames = 256;
  static constexpr std::size_t kMaxModules = 64;
  static constexpr std::size_t kMaxCleanup = 64;
  static constexpr std::size_t kMaxSuppressed = 64;

  collector::Record record;
  collector::ExceptionChain chain;
  /// Secondary errors, one after the other.
  collector::ExceptionChain secondary;
  StateSample state;
  faultinject::FiringLabel firing;
  collector::SinkNotes notes;

  std::array<collector::RecordException, collector::ExceptionChain::kMaxDepth>
      exceptions;
  std::array<collector::RecordFrame, kMaxFrames> frames;
  std::size_t frame_count = 0;
  std::array<collector::RecordBreadcrumb, 2 * BreadcrumbRing::kCapacity> crumbs;
  std::array<collector::RecordCleanup, kMaxCleanup> cleanup;
  std::array<collector::RecordSuppressed, kMaxSuppressed> suppressed;
  std::array<collector::RecordTelemetry, Telemetry::kCapacity> telemetry;
  std::string resume_path;
  std::string resume_checksum;
  /// Modules of the run's row that frames point to, by their index in the
  /// process.
  std::array<int, kMaxModules> modules{};
  std::size_t module_count = 0;
  std::array<char, 16> thread_name{};

  std::string reproduce;
  collector::Uuid inner_record_id;
  collector::RawTrace catch_site;
  std::array<char, collector::kRecordBufferBytes> line;

  std::array<char, 64 * 1024> text{};
  std::size_t text_size = 0;

  /// As if new, but without touching what is overwritten anyway.
  void reset() noexcept;

  /// Copies a text into `text`, cut when there is no room left.
  std::string_view keep(std::string_view part) noexcept;

  /// The row index of a module of the process; none when the table is full.
  std::optional<std::uint32_t> row_module(int module) noexcept;
};

/// A storage for one run, given back for the next one on this thread: fresh
/// memory of this size would cost a hundred page faults a run.
std::unique_ptr<CaptureStorage> take_storage();
void give_back(std::unique_ptr<CaptureStorage> storage) noexcept;

/// What the frames of a stack are filled with.
enum class FrameDetail : std::uint8_t {
  /// Addresses, modules, offsets: microseconds.
  kLocated,
  /// Names and lines too: reads debug information at first use.
  kNamed,
};

/// The text of an exception as records tell it: a null view when it has none.
std::string_view message_of(const collector::ChainEntry& entry) noexcept;

/// Fills `storage.exceptions` and their stacks from `storage.chain`; the stack
/// of an outermost exception whose throw nobody saw is `catch_site`. Empties
/// `storage.text`.
///
/// Of a named stack the calls of std::function and, outside the guard, all but
/// the user's own frames are left out; `truncated` says so. A frame that is not
/// the user's own is named without its arguments.
void fill_exceptions(CaptureStorage& storage,
                     const collector::RawTrace& catch_site,
                     FrameDetail detail) noexcept;

}  // namespace mishap
