#pragma once

#include <mishap/collector/record.h>

#include <cstdint>
#include <functional>
#include <string_view>

namespace mishap {

struct CaptureStorage;

/// What a filter says of a record.
enum class FilterVerdict : std::uint8_t { kKeep, kDrop };

/// Looks at a record before it is written, and may change or drop it. What it
/// changes in the record must live until the filter is called again on the same
/// thread: the record holds views. Only records of kind error, interrupt and
/// crash have exceptions.
///
/// By `kind` of the record it is called
/// * error, interrupt: on the thread of the failed run, once when the record is
///   frozen and once more when it is complete;
/// * killed: on the thread of the run, when it begins and at each checkpoint,
///   for the record that stands by in case the process is killed; so in runs
///   that go well too. Who completes that record later (the next run of the
///   folder, `mishap watch`, `mishap show`) adds place, breadcrumbs and exit;
/// * hang: on the watchdog's thread, while the run hangs, possibly with the
///   heap locked. Where the filter hangs too, the record that it was asked for
///   is left to recover_pending(), without the texts that a filter which throws
///   costs; that of a run which had failed before is the one of its error;
/// * crash: on the thread that called std::terminate(); where it takes more
///   than three seconds the process ends, and leaves a record of kind killed.
///
/// Never in a signal handler, nor when another thread ends the process: records
/// of fatal signals, of a grace period or a cleanup that is over and of exit()
/// are written with the secrets replaced (redact_text.h), unfiltered. It should
/// take milliseconds: the caller of the run waits.
using RecordFilter = std::function<FilterVerdict(collector::Record&)>;

/// Asks the filter, if there is one, about a record whose lists lie in
/// `storage`. When it throws the record is kept without the texts that it might
/// have taken out, and `failed` is then set. The error of the filter goes no
/// further.
FilterVerdict apply_filter(const RecordFilter& filter,
                           collector::Record& record, CaptureStorage& storage,
                           bool& failed) noexcept;

/// Takes messages, warnings, commands and the end of stderr out of a record
/// whose lists lie in `storage`, and there.
void take_texts_out(collector::Record& record,
                    CaptureStorage& storage) noexcept;

/// What the notes of a record say whose filter threw.
inline constexpr std::string_view kFilterThrew =
    "the filter of the user threw: texts were left out";

}  // namespace mishap
