#include <mishap/collector/resolve/capture.h>
#include <mishap/collector/resolve/stack_walk.h>

#include <algorithm>
#include <boost/stacktrace/safe_dump_to.hpp>
#include <span>

namespace mishap::collector {
namespace {

// More than is kept: the frames of the capture itself, which are left out, and
// one that tells whether the stack goes on.
constexpr std::size_t kCaptured = RawTrace::kMaxFrames + 8;
using Addresses = std::array<std::uintptr_t, kCaptured + 1>;

std::size_t capture_addresses(Addresses& out) {
  const std::size_t walked =
      detail::walk_stack(std::span(out).first(kCaptured));
  if (walked > 0) {
    return walked;
  }
  // Boost ends its dump with a null, which it counts.
  const std::size_t dumped =
      boost::stacktrace::safe_dump_to(out.data(), sizeof(out));
  return dumped == 0 ? 0 : dumped - 1;
}

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
  const auto* begin = addresses.data();
  const auto* end = begin + capture_addresses(addresses);
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
