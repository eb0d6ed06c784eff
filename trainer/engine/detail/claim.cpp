#include <mishap/trainer/engine/detail/claim.h>
#include <mishap/trainer/guard/errors.h>

namespace mishap::detail {

Claim::~Claim() {
  if (taken_) {
    const std::lock_guard lock(occupancy_.mutex);
    --occupancy_.depth;
  }
}

void Claim::take(std::string_view entry_point) {
  const std::lock_guard lock(occupancy_.mutex);
  const std::thread::id self = std::this_thread::get_id();
  if (occupancy_.depth > 0 && occupancy_.thread != self) {
    throw InputError(std::string(entry_point) +
                     " was called on a trainer that is running " +
                     occupancy_.entry_point +
                     " on another thread; wait for it or use a trainer of its "
                     "own for each thread");
  }
  nested_ = occupancy_.depth > 0;
  if (!nested_) {
    occupancy_.thread = self;
    occupancy_.entry_point = entry_point;
  }
  ++occupancy_.depth;
  taken_ = true;
}

}  // namespace mishap::detail
