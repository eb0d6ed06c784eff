#pragma once

#include <cstdint>
#include <string_view>

namespace mishap::faultinject {

/// What a run was doing when a point was hit; filters look at it.
struct HitContext {
  std::string_view entry_point;
  std::string_view stage;
  /// Empty: the kernel's name of the thread, "main" for the first one.
  std::string_view thread;
  /// -1: none; no filter matches it.
  std::int64_t epoch = -1;
  std::int64_t batch = -1;
  std::int64_t step = -1;
  std::int64_t rank = -1;
  /// Whose run it is (one trainer, one guard), for scenarios armed for one
  /// owner. Never dereferenced.
  const void* owner = nullptr;
};

/// Fills the context of points in user code, which know nothing of the run.
/// Called on the thread that hit the point, only while something is armed.
using ContextFunction = HitContext (*)(void* data);

/// Sets the provider of this thread while it lives, then sets back the one
/// before. Costs two thread-local stores. To be ended on its own thread.
class ContextScope {
 public:
  ContextScope(ContextFunction function, void* data) noexcept;
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  ContextFunction previous_function_;
  void* previous_data_;
};

/// What this thread's provider says; an empty context without one.
HitContext current_context();

}  // namespace mishap::faultinject
