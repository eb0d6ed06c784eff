#pragma once

#include <string>
#include <string_view>

namespace mishap {

/// Sets the command that repeats the runs of this process, for `reproduce` of
/// their records, in place of the command line. `faults` is put behind it as
/// `--faults 'SPEC'`; with `takes_faults` false, before it as
/// `MISHAP_FAULTS='SPEC'`. Thread-safe.
void set_reproduce_command(std::string command, bool takes_faults);

/// One line for a shell that makes the run happen again with that plan; the
/// plan may be empty.
std::string reproduce_command(std::string_view faults);

/// The text as one word of a POSIX shell.
std::string shell_quoted(std::string_view text);

/// The words of this process's command line, each quoted where necessary, with
/// the program's path made absolute.
std::string command_line();

}  // namespace mishap
