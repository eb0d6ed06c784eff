#pragma once

#include <string>
#include <vector>

namespace mishap::program {

/// The libtorch_cpu that a program would have, before it runs: by its linked
/// libraries, of a Python by the torch that it would import. Empty when there
/// is none, or when it can't be told.
std::string torch_of_program(const std::vector<std::string>& words);

/// The path of a library in the output of ldd; empty when it is not in it.
std::string library_in(const std::string& ldd_output, const std::string& name);

}  // namespace mishap::program
