#include <mishap/collector/resolve/stack_walk.h>

namespace mishap::collector::detail {

std::size_t walk_stack(std::span<std::uintptr_t>) noexcept { return 0; }

std::size_t walk_stack_from(const StackPosition&,
                            std::span<std::uintptr_t>) noexcept {
  return 0;
}

}  // namespace mishap::collector::detail
