#include <mishap/collector/resolve/capture.h>

#include <algorithm>
#include <boost/stacktrace/safe_dump_to.hpp>

namespace mishap::collector {
namespace {

// One address beyond the limit tells whether the stack goes on; Boost ends its
// dump with a null.
constexpr std::size_t kDumped = RawTrace::kMaxFrames + 8;
using Addresses = std::array<std::uintptr_t, kDumped + 1>;

void keep(RawTrace& out, const std::uintptr_t* begin,
          const std::uintptr_t* end) {
  const auto count = static_cast<std::size_t>(end - begin);
  const std::size_t kept = std::min(count, RawTrace::kMaxFrames);
  std::copy_n(begin, kept, out.addresses.begin());
  out.size = static_cast<std::uint16_t>(kept);
  out.truncated = count > kept;
  out.exact_first = false;
}

}  // namespace

[[gnu::noinline]] void capture_stack(RawTrace& out) noexcept {
  capture_stack_from(out, __builtin_return_address(0));
}

[[gnu::noinline]] void capture_stack_from(RawTrace& out,
                                          const void* first) noexcept {
  Addresses addresses;
  const std::size_t dumped =
      boost::stacktrace::safe_dump_to(addresses.data(), sizeof(addresses));
  const auto* begin = addresses.data();
  const auto* end = begin + (dumped == 0 ? 0 : dumped - 1);
  const auto* found =
      std::find(begin, end, reinterpret_cast<std::uintptr_t>(first));
  keep(out, found == end ? begin : found, end);
}

void warm_up_capture() noexcept {
  static const bool warm = [] {
    RawTrace trace;
    capture_stack(trace);
    return trace.size > 0;
  }();
  static_cast<void>(warm);
}

}  // namespace mishap::collector
