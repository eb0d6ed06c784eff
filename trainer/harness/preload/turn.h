#pragma once

#include <mishap/trainer/harness/program/control.h>

namespace mishap::preload {

/// Hands the turn to the supervisor, and waits until it is the program's again;
/// whatever the supervisor said then. Ends the process when nobody is left who
/// would say something.
program::Turn hand_turn(program::Turn turn) noexcept;

}  // namespace mishap::preload
