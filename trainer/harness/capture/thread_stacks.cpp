#include <mishap/collector/modules.h>
#include <mishap/trainer/harness/capture/capture_storage.h>
#include <mishap/trainer/harness/capture/thread_stacks.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace mishap {
namespace {

// What the thread that hangs may have, and the other ones while there is room.
constexpr std::size_t kFramesOfFirst = collector::RawTrace::kMaxFrames;
constexpr std::size_t kFramesOfOthers = 32;

constinit ThreadStacks only{};
// The process that has borrowed it: a forked child inherits no borrower.
constinit std::atomic<pid_t> borrower{0};

bool borrow() noexcept {
  const pid_t self = getpid();
  pid_t other = borrower.load();
  return other != self && borrower.compare_exchange_strong(other, self);
}

}  // namespace

void ThreadStacks::capture(
    const collector::AllThreadsOptions& options) noexcept {
  count_ = collector::capture_all_threads(threads_, options);
}

std::span<const collector::RecordThreadStack> ThreadStacks::fill(
    CaptureStorage& storage) noexcept {
  std::size_t used = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const collector::ThreadStack& thread = threads_[i];
    const std::size_t wanted = std::min<std::size_t>(
        thread.trace.size, i == 0 ? kFramesOfFirst : kFramesOfOthers);
    const std::size_t size = std::min(wanted, frames_.size() - used);
    collector::RecordFrame* const frames = frames_.data() + used;
    for (std::size_t f = 0; f < size; ++f) {
      collector::RecordFrame frame;
      frame.address = thread.trace.addresses[f];
      // Not find_module(), which takes the loader's lock for a new one.
      const int module = collector::find_known_module(frame.address);
      frame.module = storage.row_module(module);
      if (module != collector::kNoModule) {
        frame.offset =
            frame.address -
            collector::module_at(static_cast<std::size_t>(module)).load_address;
      }
      frames[f] = frame;
    }
    used += size;
    collector::RecordThreadStack& part = parts_[i];
    part.id = thread.id;
    part.name = thread.name();
    part.role = thread.role;
    part.state = thread.state();
    part.stack.origin = size == 0 ? collector::StackOrigin::kNone
                                  : collector::StackOrigin::kWatchdog;
    part.stack.truncated = thread.trace.truncated || size < thread.trace.size;
    part.stack.frames = {frames, size};
  }
  return std::span(parts_).first(count_);
}

std::span<const collector::RunModule> ThreadStacks::modules(
    const CaptureStorage& storage) noexcept {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::size_t count = std::min(storage.module_count, kMaxModules);
  for (std::size_t i = 0; i < count; ++i) {
    const collector::Module& module =
        collector::module_at(static_cast<std::size_t>(storage.modules[i]));
    std::array<char, 64>& text = build_ids_[i];
    std::size_t size = 0;
    for (std::size_t b = 0; b < module.build_id_size; ++b) {
      text[size++] = kDigits[module.build_id[b] >> 4U];
      text[size++] = kDigits[module.build_id[b] & 0xFU];
    }
    modules_[i] = {
        module.path, {text.data(), size}, module.load_address, module.size()};
  }
  return std::span(modules_).first(count);
}

ThreadStacksLease::ThreadStacksLease() noexcept {
  constexpr timespec kPause{0, 1'000'000};
  constexpr int kTries = 500;
  for (int i = 0; i < kTries; ++i) {
    if (borrow()) {
      stacks_ = &only;
      return;
    }
    nanosleep(&kPause, nullptr);
  }
}

ThreadStacksLease::~ThreadStacksLease() {
  if (stacks_ != nullptr) {
    borrower.store(0);
  }
}

}  // namespace mishap
