#pragma once

#include <mishap/collector/run_facts.h>
#include <mishap/collector/run_row.h>

#include <cstddef>
#include <span>

namespace mishap {

/// Gathers what a record and a row need but no signal handler can ask for: the
/// machine, the modules with their build-ids, the command that repeats the
/// process. Half a millisecond at first, then next to nothing while no library
/// is loaded. Thread-safe, never throws.
void prepare_facts() noexcept;

/// The machine and this process; gathered at the first call. Thread-safe.
/// Throws std::bad_alloc.
const collector::RunFacts& run_facts();

/// Fills what prepare_facts() found into a row; nothing before it was called.
/// Async-signal-safe.
void fill_prepared(collector::RunRow& row) noexcept;

/// The modules with these indices in the process, as a row's list; returns how
/// many. One whose build-id was not prepared has none. Async-signal-safe.
std::size_t fill_prepared_modules(std::span<const int> modules,
                                  std::span<collector::RunModule> out) noexcept;

}  // namespace mishap
