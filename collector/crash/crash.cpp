#include <mishap/collector/clock.h>
#include <mishap/collector/crash/crash.h>
#include <mishap/collector/modules.h>
#include <mishap/collector/record/fold_frames.h>
#include <unistd.h>

#include <atomic>

namespace mishap::collector {
namespace {

constinit std::atomic<CrashTeller*> current_teller{nullptr};

// The recursion that the walk folded, then those in the frames it left.
FoldedFrames fold(const CrashStack& stack, std::span<RecordFrame> frames,
                  std::span<RecordRepeat> repeats) noexcept {
  const std::size_t behind = stack.round_first() + stack.round_frames();
  if (stack.rounds() == 0 || behind > frames.size() || repeats.empty()) {
    return fold_frames(frames, repeats);
  }
  repeats[0] = {stack.round_first(), stack.round_frames(), stack.rounds()};
  const std::span<RecordRepeat> others = repeats.subspan(1);
  const FoldedFrames rest = fold_frames(frames.subspan(behind), others);
  for (RecordRepeat& repeat : others.first(rest.repeats)) {
    repeat.first += behind;
  }
  return {behind + rest.frames, 1 + rest.repeats};
}

}  // namespace

CrashTeller* set_crash_teller(CrashTeller* teller) noexcept {
  return current_teller.exchange(teller);
}

CrashTeller* crash_teller() noexcept { return current_teller.load(); }

void fill_crash(const Crash& crash, Record& record) noexcept {
  record.time_unix_nano = Clock::system().unix_nano();
  record.steady_nano = Clock::system().steady_nano();
  record.sequence = next_sequence();
  record.thread.id = crash.thread.id;
  record.thread.name = crash.thread_name.view();
  record.thread.role = crash.thread.role;
  record.process.pid = getpid();
  record.signal = crash.signal;
  record.registers = crash.registers.all();
  if (crash.dies_by != 0) {
    record.exit.signal = crash.dies_by;
  }
}

RecordStack fill_stack(const Crash& crash, std::span<RecordFrame> out,
                       std::span<RecordRepeat> repeats, RowModule row_module,
                       void* context) noexcept {
  std::size_t count = 0;
  for (const std::uintptr_t address : crash.stack.addresses()) {
    if (count == out.size()) {
      break;
    }
    RecordFrame& frame = out[count++];
    frame = {};
    frame.address = address;
    const int module = find_known_module(address);
    if (module != kNoModule) {
      frame.module = row_module(module, context);
      frame.offset =
          address - module_at(static_cast<std::size_t>(module)).load_address;
    }
  }
  RecordStack stack;
  stack.origin = crash.cause == Crash::Cause::kSignal ? StackOrigin::kSignal
                                                      : StackOrigin::kTerminate;
  const FoldedFrames folded = fold(crash.stack, out.first(count), repeats);
  const bool is_told = crash.stack.rounds() == 0 || folded.repeats > 0;
  stack.truncated = crash.stack.truncated() || !is_told ||
                    count < crash.stack.addresses().size();
  stack.frames = out.first(folded.frames);
  stack.repeats = repeats.first(folded.repeats);
  return stack;
}

}  // namespace mishap::collector
