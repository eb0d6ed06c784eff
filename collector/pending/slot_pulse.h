#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace mishap::collector {

/// The heartbeat of a guarded process, read from its slots: a number that
/// changes with each hook that it enters, and with each run that begins or
/// ends. Nothing while it has no slot for that records folder. Never throws.
std::optional<std::uint64_t> slot_pulse(const std::string& records_folder,
                                        pid_t process) noexcept;

}  // namespace mishap::collector
