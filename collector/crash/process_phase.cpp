#include <dlfcn.h>
#include <mishap/collector/crash/process_phase.h>
#include <sys/auxv.h>

#include <atomic>
#include <cstdint>

namespace mishap::collector {
namespace {

constinit std::atomic<ProcessPhase> current{ProcessPhase::kLoading};

// The headers of an executable are on its first page.
bool is_in_executable(void* address) {
  constexpr std::uintptr_t kPageMask = 4095;
  Dl_info info{};
  return dladdr(address, &info) != 0 &&
         reinterpret_cast<std::uintptr_t>(info.dli_fbase) ==
             (getauxval(AT_PHDR) & ~kPageMask);
}

// A linker puts libraries behind the program's own files, and what they
// construct with them: then the program's static objects are there, and main()
// comes next. In a shared library this says nothing.
[[gnu::constructor]] void end_loading() {
  if (is_in_executable(reinterpret_cast<void*>(end_loading))) {
    ProcessPhase loading = ProcessPhase::kLoading;
    current.compare_exchange_strong(loading, ProcessPhase::kRunning);
  }
}

}  // namespace

ProcessPhase process_phase() noexcept { return current.load(); }

void set_process_phase(ProcessPhase phase) noexcept { current.store(phase); }

}  // namespace mishap::collector
