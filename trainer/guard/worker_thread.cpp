#include <mishap/trainer/guard/worker_thread.h>

#include <atomic>

namespace mishap {
namespace {

constinit std::atomic<WorkerRegistrar> current{nullptr};

}  // namespace

void set_worker_registrar(WorkerRegistrar registrar) noexcept {
  current.store(registrar);
}

void register_worker_thread(const char* role) noexcept {
  if (const WorkerRegistrar registrar =
          current.load(std::memory_order_relaxed)) {
    registrar(role);
  }
}

}  // namespace mishap
