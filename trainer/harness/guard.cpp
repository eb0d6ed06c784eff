#include <mishap/collector/crash/fatal_signals.h>
#include <mishap/collector/crash/thread_registry.h>
#include <mishap/collector/throw_hook.h>
#include <mishap/trainer/harness/capture/crash_capture.h>
#include <mishap/trainer/harness/capture/sinks.h>
#include <mishap/trainer/harness/guard.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <new>

namespace mishap {

void guard(std::string_view name, const std::function<void(Run&)>& body,
           const HarnessOptions& options) {
  run_with_harness(options, [&](const GuardOptions& guard_options) {
    guarded_call(name, guard_options, body);
  });
}

void record_crashes() {
  record_crashes_outside(sink_for({}));
  if (gettid() == getpid()) {
    // Until the process ends: destructors of static objects may use the stack
    // up.
    alignas(collector::ThreadScope) static constinit std::array<
        std::byte, sizeof(collector::ThreadScope)>
        room{};
    static const auto* const main_thread =
        new (room.data()) collector::ThreadScope("main");
    static_cast<void>(main_thread);
  }
  collector::keep_crash_handlers();
}

bool hook_is_live() noexcept { return collector::hook_is_live(); }

}  // namespace mishap
