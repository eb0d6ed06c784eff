#include <mishap/collector/crash/process_phase.h>

#include <atomic>

namespace mishap::collector {
namespace {

constinit std::atomic<ProcessPhase> current{ProcessPhase::kLoading};

}  // namespace

ProcessPhase process_phase() noexcept { return current.load(); }

void set_process_phase(ProcessPhase phase) noexcept { current.store(phase); }

}  // namespace mishap::collector
