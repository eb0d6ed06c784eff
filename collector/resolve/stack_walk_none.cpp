#include <mishap/collector/resolve/stack_walk.h>

namespace mishap::collector::detail {

std::size_t walk_stack(std::span<std::uintptr_t>) noexcept { return 0; }

bool visit_stack(const WalkStart&, bool (*)(std::uintptr_t, void*),
                 void*) noexcept {
  return false;
}

}  // namespace mishap::collector::detail
