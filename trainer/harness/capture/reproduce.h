#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mishap {

/// How a command is told the plan that is to be repeated.
enum class FaultsGo : std::uint8_t {
  /// `MISHAP_FAULTS='SPEC' command`
  kBefore,
  /// `command --faults 'SPEC'`
  kBehind,
  /// It holds the plan already, maybe more than the one fault that a record
  /// names.
  kInside,
};

/// Sets the command that repeats the runs of this process, for `reproduce` of
/// their records, in place of the command line. Thread-safe.
void set_reproduce_command(std::string command, FaultsGo faults_go);

/// One line for a shell that makes the run happen again with that plan; the
/// plan may be empty.
std::string reproduce_command(std::string_view faults);

/// Makes the parts of that line for prepared_reproduce(), once for each command
/// that was set. Thread-safe; throws std::bad_alloc.
void prepare_reproduce();

/// reproduce_command() in room of the caller's, without the heap and without a
/// lock: async-signal-safe. Empty before prepare_reproduce(), and when there is
/// not room enough.
std::string_view prepared_reproduce(std::span<char> room,
                                    std::string_view faults) noexcept;

/// The text as one word of a POSIX shell.
std::string shell_quoted(std::string_view text);

/// The words of this process's command line, each quoted where necessary, with
/// the program's path made absolute.
const std::string& command_line();

}  // namespace mishap
