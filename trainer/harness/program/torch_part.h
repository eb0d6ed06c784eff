#pragma once

#include <string>

namespace mishap::program {

/// The library with LibTorch's operators as points (harness/torch/program),
/// compiled against the LibTorch to which `libtorch_cpu` belongs: its path, as
/// a program has it mapped. It is compiled once for each build of LibTorch and
/// version of Mishap and kept in `mishap` below XDG_CACHE_HOME or ~/.cache, by
/// the compiler that CXX names, else c++, g++ or clang++; that takes some ten
/// seconds. Processes that do so at once do not disturb each other.
///
/// Empty where it can't be had; `problem` is one sentence then that begins with
/// "operators are left out: " and says what to do. Never throws but
/// std::bad_alloc. Not for several threads at once.
std::string torch_part_for(const std::string& libtorch_cpu,
                           std::string& problem);

}  // namespace mishap::program
