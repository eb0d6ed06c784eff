#pragma once

#include <mishap/trainer/harness/cli/probes.h>

#include <string>
#include <vector>

namespace mishap::cli {

// The parts of standard_probes().

/// How throws are seen, and where names come from later.
std::vector<Probe> probes_of_names();
/// What a fatal signal, a stack overflow and a hang would find.
std::vector<Probe> probes_of_signals();
/// What the machine lets a process see: room, memory limits, clocks, cores.
std::vector<Probe> probes_of_machine();

/// The first line of a small file, such as those of /proc; empty when it cannot
/// be read.
std::string first_line_of(const std::string& path);

/// The folder that records of this program go to.
std::string doctors_folder();

}  // namespace mishap::cli
