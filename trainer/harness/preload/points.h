#pragma once

#include <mishap/faultinject/point.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace mishap::preload {

/// No point: nobody asked for it, or there is no room.
inline constexpr std::uint32_t kNoPoint = 0xffffffff;

/// Reads the patterns that say which points are hit at all, one a line; none:
/// all. When the program is loaded.
void read_point_patterns(std::string_view lines);

/// The number of the point in the tables, the same at each call, made where it
/// is new. Signal-safe but for the first call with a name.
std::uint32_t point_of(std::string_view name) noexcept;

/// Whether points of that family may be hit.
bool wants_family(std::string_view family) noexcept;

std::string_view point_name(std::uint32_t point) noexcept;

/// Its number in the faults' library, where a plan is armed.
faultinject::PointId plan_point(std::uint32_t point) noexcept;

/// A point with a name that is known when this library is built.
class FixedPoint {
 public:
  constexpr explicit FixedPoint(const char* name) noexcept : name_(name) {}

  std::uint32_t number() noexcept {
    std::uint32_t number = number_.load(std::memory_order_relaxed);
    if (number == kUnknown) {
      number = point_of(name_);
      number_.store(number, std::memory_order_relaxed);
    }
    return number;
  }

 private:
  static constexpr std::uint32_t kUnknown = 0xfffffffe;
  const char* name_;
  std::atomic<std::uint32_t> number_{kUnknown};
};

extern constinit FixedPoint kIoOpen;
extern constinit FixedPoint kIoRead;
extern constinit FixedPoint kIoWrite;
extern constinit FixedPoint kIoFsync;
extern constinit FixedPoint kIoRename;
extern constinit FixedPoint kIoClose;
extern constinit FixedPoint kIoMkdir;
extern constinit FixedPoint kAllocNew;
extern constinit FixedPoint kAllocCpu;

}  // namespace mishap::preload
