#include <mishap/collector/clock.h>
#include <mishap/collector/demangle.h>
#include <mishap/collector/exception_object.h>
#include <mishap/collector/resolve/symbolize.h>
#include <mishap/collector/throw_site.h>
#include <mishap/trainer/harness/capture/live_exceptions.h>

#include <algorithm>
#include <array>

namespace mishap {
namespace {

constexpr std::size_t kMost = 64;

bool is_in_record(const collector::LiveThrow& live, const Run& run,
                  const CaptureStorage& storage) {
  for (const collector::ChainEntry& entry : storage.chain.entries()) {
    if (entry.site && entry.site->steady_nanos == live.steady_nanos &&
        entry.site->thread_id == live.thread_id) {
      return true;
    }
  }
  return std::ranges::any_of(run.secondary(), [&](const SecondaryError& error) {
    return collector::exception_object(error.error) == live.object;
  });
}

// The function of the program that threw, or else what lies innermost.
collector::Frame frame_of(const collector::LiveThrow& live) {
  collector::RawTrace trace;
  trace.size = static_cast<std::uint16_t>(live.size);
  std::copy_n(live.addresses.begin(), live.size, trace.addresses.begin());
  const collector::SymbolizedStack stack = collector::symbolize(trace);
  const auto own =
      std::ranges::find_if(stack.frames, &collector::Frame::in_app);
  if (own != stack.frames.end()) {
    return *own;
  }
  return stack.frames.empty() ? collector::Frame() : stack.frames.front();
}

}  // namespace

LiveExceptions::LiveExceptions(std::int64_t since_steady_nanos, const Run& run,
                               CaptureStorage& storage) {
  std::array<collector::LiveThrow, kMost> all;
  const std::size_t size = collector::live_throws(all);
  const auto alive = std::span(all).first(size);
  std::ranges::sort(alive, {}, &collector::LiveThrow::steady_nanos);
  const std::int64_t now = collector::Clock::system().steady_nano();
  for (const collector::LiveThrow& live : alive) {
    if (live.steady_nanos < since_steady_nanos || live.type == nullptr ||
        is_in_record(live, run, storage)) {
      continue;
    }
    const collector::Frame frame = frame_of(live);
    collector::RunLiveException row;
    row.type = texts_.emplace_back(collector::type_name(*live.type));
    row.thread_id = live.thread_id;
    row.age_micros = std::max<std::int64_t>(now - live.steady_nanos, 0) / 1'000;
    row.function = frame.function;
    row.module = storage.row_module(frame.module);
    if (row.module) {
      row.offset = frame.offset;
    }
    rows_.push_back(row);
  }
}

}  // namespace mishap
