#pragma once

namespace mishap::collector {

/// One file descriptor of the process that is kept for the moment when there
/// are no others: a record still opens its file then.

/// Takes the descriptor unless it is held already. Thread-safe and
/// async-signal-safe; keeps errno.
void reserve_descriptor() noexcept;

/// Closes it, so that the next open() has one. False when none was held, or
/// when somebody else closed it and its number is in use for another file.
/// Async-signal-safe; keeps errno.
bool release_reserved_descriptor() noexcept;

}  // namespace mishap::collector
