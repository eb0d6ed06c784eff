#include <mishap/collector/clock.h>
#include <mishap/collector/modules.h>
#include <mishap/collector/record/fold_frames.h>
#include <mishap/collector/resolve/symbolize.h>
#include <mishap/trainer/harness/capture/capture_storage.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace mishap {
namespace {

using collector::ChainEntry;
using collector::Frame;
using collector::RecordException;
using collector::RecordFrame;

constexpr std::size_t kFramesPerStack = 96;

// A caller waits for its error meanwhile; `mishap show` has all the time.
constexpr std::int64_t kNamingNanos = 2'000'000'000;

// Nested runs need one each; more than two at once are rare.
constexpr std::size_t kMaxSpares = 2;
using Spares = std::array<CaptureStorage*, kMaxSpares>;
// Plain pointers: to register a destructor for a thread the C library needs
// memory, and ends the process when there is none.
constinit thread_local Spares spares{};

void free_spares(void* of_thread) {
  for (CaptureStorage*& spare : *static_cast<Spares*>(of_thread)) {
    delete std::exchange(spare, nullptr);
  }
}

// Whether what is spared now will be freed when the thread ends.
bool frees_at_thread_end() noexcept {
  struct Key {
    pthread_key_t key{};
    bool is_good = pthread_key_create(&key, free_spares) == 0;
  };
  static const Key key;
  return key.is_good && pthread_setspecific(key.key, &spares) == 0;
}

// Calls that only hand on: they say nothing and are half of many stacks.
bool is_plumbing(const Frame& frame) noexcept {
  return frame.file.ends_with("/bits/std_function.h") ||
         frame.file.ends_with("/bits/invoke.h") ||
         frame.function.starts_with("std::_Function_handler<") ||
         frame.function.starts_with("std::function<");
}

bool is_guard(const Frame& frame) noexcept {
  return frame.function.starts_with("mishap::guarded_call(");
}

// The name without return type, template arguments and parameters.
std::string_view plain_name(CaptureStorage& storage,
                            std::string_view name) noexcept {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  std::array<char, 160> text;
  std::size_t size = 0;
  int depth = 0;
  for (std::size_t i = 0; i < name.size() && size < text.size(); ++i) {
    const char c = name[i];
    const std::string_view rest = name.substr(i);
    const bool is_operator =
        std::string_view(text.data(), size).ends_with("operator");
    if (depth == 0 && rest.starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
      text[size++] = '@';
    } else if (depth == 0 && is_operator && rest.starts_with("()")) {
      i += 1;
      text[size++] = '~';
    } else if (c == '(' && depth == 0) {
      break;
    } else if (c == '<' && !is_operator) {
      ++depth;
    } else if (c == '>' && !is_operator) {
      --depth;
    } else if (c == ' ' && depth == 0 && !is_operator) {
      size = 0;
    } else if (depth == 0) {
      text[size++] = c;
    }
  }
  const std::string_view kept = storage.keep({text.data(), size});
  if (kept.find('@') == std::string_view::npos &&
      kept.find('~') == std::string_view::npos) {
    return kept;
  }
  std::array<char, 256> whole;
  std::size_t length = 0;
  for (const char c : kept) {
    const std::string_view part = c == '@'   ? kAnonymous
                                  : c == '~' ? std::string_view("()")
                                             : std::string_view(&c, 1);
    const std::size_t take = std::min(part.size(), whole.size() - length);
    std::copy_n(part.data(), take, whole.data() + length);
    length += take;
  }
  return storage.keep({whole.data(), length});
}

RecordFrame to_record(CaptureStorage& storage, const Frame& frame,
                      FrameDetail detail) noexcept {
  RecordFrame out;
  out.address = frame.address;
  out.module = storage.row_module(frame.module);
  if (frame.module != collector::kNoModule) {
    out.offset = frame.offset;
  }
  // The mangled name says nothing that the readable one does not.
  out.symbol = frame.function.empty() ? frame.symbol : std::string_view();
  out.function =
      frame.in_app ? frame.function : plain_name(storage, frame.function);
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
                                  FrameDetail detail,
                                  std::int64_t deadline) noexcept {
  std::array<Frame, kFramesPerStack> frames;
  const std::size_t room =
      std::min(frames.size(), storage.frames.size() - storage.frame_count);
  const std::span<Frame> out(frames.data(), room);
  const collector::FrameCount count = detail == FrameDetail::kNamed
                                          ? symbolize(trace, out, deadline)
                                          : locate(trace, out);
  RecordFrame* first = storage.frames.data() + storage.frame_count;
  std::size_t kept = 0;
  bool inside = true;
  bool cut = count.truncated;
  for (std::size_t i = 0; i < count.frames; ++i) {
    const Frame& frame = frames[i];
    if (detail == FrameDetail::kNamed && !frame.in_app &&
        (!inside || is_plumbing(frame))) {
      cut = true;
      continue;
    }
    first[kept++] = to_record(storage, frame, detail);
    inside = inside && !is_guard(frame);
  }
  collector::RecordRepeat* repeats =
      storage.repeats.data() + storage.repeat_count;
  const collector::FoldedFrames folded = collector::fold_frames(
      {first, kept}, {repeats, storage.repeats.size() - storage.repeat_count});
  storage.frame_count += folded.frames;
  storage.repeat_count += folded.repeats;
  collector::RecordStack stack;
  stack.origin = origin;
  stack.truncated = cut;
  stack.frames = {first, folded.frames};
  stack.repeats = {repeats, folded.repeats};
  return stack;
}

}  // namespace

void CaptureStorage::reset() noexcept {
  record = {};
  frame_count = 0;
  repeat_count = 0;
  module_count = 0;
  text_size = 0;
  reproduce.clear();
  inner_record_id = {};
  catch_site.size = 0;
}

std::unique_ptr<CaptureStorage> take_storage() {
  for (CaptureStorage*& spare : spares) {
    if (spare != nullptr) {
      spare->reset();
      return std::unique_ptr<CaptureStorage>(std::exchange(spare, nullptr));
    }
  }
  return std::make_unique<CaptureStorage>();
}

void give_back(std::unique_ptr<CaptureStorage> storage) noexcept {
  for (CaptureStorage*& spare : spares) {
    if (spare == nullptr && frees_at_thread_end()) {
      spare = storage.release();
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

std::string_view message_of(const ChainEntry& entry) noexcept {
  return entry.has_message && !entry.what_was_null ? entry.message
                                                   : std::string_view();
}

void fill_exceptions(CaptureStorage& storage,
                     const collector::RawTrace& catch_site, FrameDetail detail,
                     collector::StackOrigin origin_of_catch_site) noexcept {
  storage.frame_count = 0;
  storage.repeat_count = 0;
  storage.text_size = 0;
  const std::int64_t deadline =
      collector::Clock::system().steady_nano() + kNamingNanos;
  std::size_t count = 0;
  for (const ChainEntry& entry : storage.chain.entries()) {
    RecordException& out = storage.exceptions[count];
    out.type = entry.type;
    out.message = message_of(entry);
    out.message_size = entry.message_size;
    out.message_hash = entry.message_hash;
    out.native_backtrace = entry.native_backtrace;
    out.code = entry.code;
    out.stack = {};
    if (entry.site) {
      out.stack = fill_stack(storage, entry.site->trace,
                             collector::StackOrigin::kThrow, detail, deadline);
    } else if (count == 0) {
      out.stack = fill_stack(storage, catch_site, origin_of_catch_site, detail,
                             deadline);
    }
    ++count;
  }
  storage.record.exceptions = {storage.exceptions.data(), count};
}

}  // namespace mishap
