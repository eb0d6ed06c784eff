#pragma once

#include <mishap/collector/raw_trace.h>

#include <cstdint>

namespace mishap::collector::detail {

/// Asks a thread of this process for its stack. The number of the request, to
/// be given to take_stack() or drop_request(); -1 when it could not be sent.
/// Async-signal-safe.
int ask_for_stack(std::int32_t thread, int signal) noexcept;

enum class Answer : std::uint8_t { kWaiting, kTaken };

/// Copies the answer, if it has come, and ends the request.
/// Async-signal-safe.
Answer take_stack(int request, RawTrace& out) noexcept;

/// Ends a request that was not answered: an answer that comes now is thrown
/// away.
void drop_request(int request) noexcept;

/// In the handler of the signal: writes the answer to the request that `value`
/// tells of. `context` is the handler's third argument.
void answer_stack_request(std::uint64_t value, const void* context) noexcept;

}  // namespace mishap::collector::detail
