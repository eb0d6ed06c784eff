#include <mishap/collector/clock.h>
#include <mishap/collector/crash/crash.h>
#include <mishap/collector/modules.h>
#include <unistd.h>

#include <atomic>

namespace mishap::collector {
namespace {

constinit std::atomic<CrashTeller*> current_teller{nullptr};

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
                       RowModule row_module, void* context) noexcept {
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
  stack.truncated = crash.stack.truncated();
  stack.frames = out.first(count);
  return stack;
}

}  // namespace mishap::collector
