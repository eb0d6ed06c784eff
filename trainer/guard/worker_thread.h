#pragma once

namespace mishap {

/// Hears of threads that work for a run without being the run's own: a loader's
/// workers, say. `role` is a literal. Called often; must cost next to nothing
/// for a thread that it knows, and must not throw.
using WorkerRegistrar = void (*)(const char* role) noexcept;

/// Sets who hears of them, null for nobody. Thread-safe.
void set_worker_registrar(WorkerRegistrar registrar) noexcept;

/// To be called by whoever runs on such a thread, as often as it likes.
/// Thread-safe.
void register_worker_thread(const char* role) noexcept;

}  // namespace mishap
