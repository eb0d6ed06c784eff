#include <mishap/collector/modules.h>
#include <mishap/collector/resolve/symbolize.h>
#include <mishap/trainer/harness/capture/capture_storage.h>

#include <algorithm>
#include <span>

namespace mishap {
namespace {

using collector::ChainEntry;
using collector::Frame;
using collector::RecordException;
using collector::RecordFrame;

constexpr std::size_t kFramesPerStack = 96;

// Nested runs need one each; more than two at once are rare.
constexpr std::size_t kMaxSpares = 2;
thread_local std::array<std::unique_ptr<CaptureStorage>, kMaxSpares> spares;

RecordFrame to_record(CaptureStorage& storage, const Frame& frame,
                      FrameDetail detail) noexcept {
  RecordFrame out;
  out.address = frame.address;
  out.module = storage.row_module(frame.module);
  if (frame.module != collector::kNoModule) {
    out.offset = frame.offset;
  }
  out.symbol = frame.symbol;
  out.function = frame.function;
  out.file = frame.file;
  if (frame.line > 0) {
    out.line = frame.line;
  }
  out.inlined = frame.inlined;
  if (detail == FrameDetail::kNamed) {
    out.in_app = frame.in_app;
  }
  return out;
}

collector::RecordStack fill_stack(CaptureStorage& storage,
                                  const collector::RawTrace& trace,
                                  collector::StackOrigin origin,
                                  FrameDetail detail) noexcept {
  std::array<Frame, kFramesPerStack> frames;
  const std::size_t room =
      std::min(frames.size(), storage.frames.size() - storage.frame_count);
  const std::span<Frame> out(frames.data(), room);
  const collector::FrameCount count = detail == FrameDetail::kNamed
                                          ? symbolize(trace, out)
                                          : locate(trace, out);
  RecordFrame* first = storage.frames.data() + storage.frame_count;
  for (std::size_t i = 0; i < count.frames; ++i) {
    first[i] = to_record(storage, frames[i], detail);
  }
  storage.frame_count += count.frames;
  collector::RecordStack stack;
  stack.origin = origin;
  stack.truncated = count.truncated;
  stack.frames = {first, count.frames};
  return stack;
}

}  // namespace

void CaptureStorage::reset() noexcept {
  record = {};
  frame_count = 0;
  module_count = 0;
  text_size = 0;
  reproduce.clear();
  inner_record_id = {};
  catch_site.size = 0;
}

std::unique_ptr<CaptureStorage> take_storage() {
  for (std::unique_ptr<CaptureStorage>& spare : spares) {
    if (spare) {
      spare->reset();
      return std::move(spare);
    }
  }
  return std::make_unique<CaptureStorage>();
}

void give_back(std::unique_ptr<CaptureStorage> storage) noexcept {
  for (std::unique_ptr<CaptureStorage>& spare : spares) {
    if (!spare) {
      spare = std::move(storage);
      return;
    }
  }
}

std::string_view CaptureStorage::keep(std::string_view part) noexcept {
  const std::size_t size = std::min(part.size(), text.size() - text_size);
  char* begin = text.data() + text_size;
  std::copy_n(part.data(), size, begin);
  text_size += size;
  return {begin, size};
}

std::optional<std::uint32_t> CaptureStorage::row_module(int module) noexcept {
  if (module == collector::kNoModule) {
    return std::nullopt;
  }
  const auto end = modules.begin() + static_cast<std::ptrdiff_t>(module_count);
  const auto found = std::find(modules.begin(), end, module);
  if (found != end) {
    return static_cast<std::uint32_t>(found - modules.begin());
  }
  if (module_count == modules.size()) {
    return std::nullopt;
  }
  modules[module_count] = module;
  return static_cast<std::uint32_t>(module_count++);
}

void fill_exceptions(CaptureStorage& storage,
                     const collector::RawTrace& catch_site,
                     FrameDetail detail) noexcept {
  storage.frame_count = 0;
  std::size_t count = 0;
  for (const ChainEntry& entry : storage.chain.entries()) {
    RecordException& out = storage.exceptions[count];
    out.type = entry.type;
    out.message = entry.what_was_null ? std::string_view() : entry.message;
    out.native_backtrace = entry.native_backtrace;
    out.code = entry.code;
    out.stack = {};
    if (entry.site) {
      out.stack = fill_stack(storage, entry.site->trace,
                             collector::StackOrigin::kThrow, detail);
    } else if (count == 0) {
      out.stack = fill_stack(storage, catch_site,
                             collector::StackOrigin::kCatch, detail);
    }
    ++count;
  }
  storage.record.exceptions = {storage.exceptions.data(), count};
}

}  // namespace mishap
