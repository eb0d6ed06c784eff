#pragma once

#include <mishap/trainer/harness/program/control.h>

#include <chrono>

namespace mishap::program {

/// Waits until it is no longer `turn`, for a moment at most; returns whose turn
/// it is.
Turn wait_while(Control& control, Turn turn, std::chrono::milliseconds moment);

/// Gives the turn and wakes who waits for it.
void give_turn(Control& control, Turn turn);

}  // namespace mishap::program
