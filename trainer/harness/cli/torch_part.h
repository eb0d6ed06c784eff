#pragma once

#include <mishap/trainer/harness/cli/command.h>

#include <string>
#include <vector>

namespace mishap::cli {

/// The folder of this program's file.
std::string program_folder();

/// The program to type: `mishap` for `mishap-torch`, which nobody has to know
/// of, else this program.
std::string front_program();

/// Where `mishap-torch` may lie, nearest first: beside this program, or in
/// ../libexec/mishap.
std::vector<std::string> torch_part_places();

/// The first of these places that holds a program; empty when none does.
std::string find_torch_part();

/// A command that `mishap-torch` carries out in this process's place. LibTorch
/// takes most of a second to load, so only what needs it goes there.
Command torch_command(std::string name, std::string summary);

}  // namespace mishap::cli
