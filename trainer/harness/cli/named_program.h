#pragma once

#include <mishap/trainer/harness/cli/command.h>

#include <string>
#include <vector>

namespace mishap::cli {

/// The words behind "--", which are the program's own; they are taken out.
std::vector<std::string> take_program(Invocation& invocation);

/// For a program that works on tasks only: throws InputError when a program is
/// named behind "--", saying who does that.
void refuse_program(const Invocation& invocation);

/// Makes plans with LibTorch's exceptions readable here: they are thrown in the
/// program, which has LibTorch.
void know_torch_types();

}  // namespace mishap::cli
