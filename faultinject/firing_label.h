#pragma once

#include <mishap/faultinject/firing.h>

#include <string>
#include <string_view>

namespace mishap::faultinject {

/// A plan of one item that repeats one firing: `name=2*off->1*action`.
std::string firing_spec(std::string_view point, std::uint64_t hit,
                        std::string_view action);

/// Makes this firing the last one of the thread and of the process. No lock, no
/// allocation.
void publish_label(std::string_view point, std::uint64_t hit,
                   std::string_view action, std::uint64_t seed,
                   std::int64_t step, const void* owner) noexcept;

}  // namespace mishap::faultinject
