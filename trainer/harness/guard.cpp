#include <mishap/collector/throw_hook.h>
#include <mishap/trainer/harness/guard.h>

namespace mishap {

void guard(std::string_view name, const std::function<void(Run&)>& body,
           const HarnessOptions& options) {
  run_with_harness(options, [&](const GuardOptions& guard_options) {
    guarded_call(name, guard_options, body);
  });
}

bool hook_is_live() noexcept { return collector::hook_is_live(); }

}  // namespace mishap
