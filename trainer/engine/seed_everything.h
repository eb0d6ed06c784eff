#pragma once

#include <cstdint>

namespace mishap {

/// Seeds the generators that belong to the whole process: LibTorch's default
/// one of the CPU and of every accelerator, and the C library's rand(), which
/// takes the lower 32 bits.
///
/// It does not seed generators that code has of its own, such as std::mt19937
/// or the one that a loader draws the order of its data from, see
/// LoaderOptions::seed and TrainerOptions::seed; it does not choose
/// deterministic operators, see TrainerOptions::deterministic; and equal seeds
/// do not make numbers equal across devices, numbers of threads or versions of
/// LibTorch.
void seed_everything(std::uint64_t seed);

}  // namespace mishap
