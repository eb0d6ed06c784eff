#pragma once

#include <mishap/collector/crash/supervise.h>
#include <mishap/collector/record.h>
#include <mishap/collector/sink.h>

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::collector {

/// What records of a watched program have in common.
struct WatchedRun {
  std::string run_id;
  /// One command that runs it again.
  std::string reproduce;
};

/// How that one ended, for a record.
RecordExit exit_of(const Ending& ending) noexcept;

/// What sort of record an ending is worth: a crash, a kill, an interruption, an
/// exit with a status. Nothing for a success.
std::optional<RecordKind> kind_of(const Ending& ending) noexcept;

/// Appends a record of an ending that nobody else told, and returns its id;
/// empty when it went to the fallback.
std::string append_ending(RecordSink& sink, const WatchedRun& run,
                          const Ending& ending);

/// Appends a record of kind `hang` of a process that goes on hanging. `sign` is
/// what it no longer gives; `threads` what it told of them, empty when it
/// can't: then there is what they wait for, as the kernel sees it.
std::string append_hang(RecordSink& sink, const WatchedRun& run, pid_t process,
                        std::chrono::milliseconds silence,
                        std::string_view sign,
                        std::span<const RecordThreadStack> threads);

}  // namespace mishap::collector
