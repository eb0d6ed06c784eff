#pragma once

#include <mishap/collector/record.h>
#include <mishap/trainer/guard/run.h>
#include <mishap/trainer/harness/capture/breadcrumbs.h>
#include <mishap/trainer/harness/capture/capture_storage.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mishap {

// What the guard knows, as parts of a record. None of these allocates.

collector::RecordPlace to_record(std::string_view entry_point,
                                 const Place& place) noexcept;
collector::RecordInterrupt to_record(std::string_view entry_point,
                                     const InterruptNote& note) noexcept;

collector::FaultStatus fault_status() noexcept;

/// The thread of the innermost cause of `storage.chain`, else the calling one.
void fill_thread(CaptureStorage& storage) noexcept;

/// From any thread, and from a signal handler.
void fill_crumbs(CaptureStorage& storage,
                 const collector::BlackBox& box) noexcept;

/// The fault that fired last, if it did so in this run, and how many steps ago.
void fill_fault(CaptureStorage& storage, const Run& run,
                std::uint64_t firings_at_start) noexcept;

/// Loss and time of the last steps.
void fill_telemetry(CaptureStorage& storage, const Run& run) noexcept;

/// What was noted of a cleanup; a total is more than there are notes when some
/// were lost.
struct CleanupOfRun {
  std::span<const CleanupNote> notes;
  std::size_t notes_total = 0;
  std::span<const SecondaryError> errors;
  std::size_t errors_total = 0;
};

/// After fill_exceptions(), which empties the text that this one adds to. Of
/// more pieces than a record holds those that went wrong are kept first.
void fill_cleanup(CaptureStorage& storage,
                  const CleanupOfRun& cleanup) noexcept;

/// Process, modes, devices, batch, weights.
void fill_state(CaptureStorage& storage, const Run& run) noexcept;

/// Of these what is known from outside of a run that hangs, kept in `storage`,
/// into a record that is not the storage's own. Takes no lock without bound and
/// nothing from the heap; not for a signal handler.
void fill_state_of_hang(CaptureStorage& storage, std::int32_t thread_id,
                        collector::Record& record) noexcept;

}  // namespace mishap
