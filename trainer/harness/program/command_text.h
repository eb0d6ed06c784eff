#pragma once

#include <string>
#include <vector>

namespace mishap::program {

/// The words as a line for a shell, each quoted where necessary.
std::string shell_line(const std::vector<std::string>& words);

/// `mishap run --faults 'SPEC' [--files GLOB]... -- CMD...`.
std::string run_command_text(const std::string& spec,
                             const std::vector<std::string>& files,
                             const std::vector<std::string>& words);

}  // namespace mishap::program
