#include <mishap/collector/resolve/capture.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/code_places.h>
#include <mishap/trainer/harness/preload/inside.h>
#include <mishap/trainer/harness/preload/interposed.h>
#include <mishap/trainer/harness/preload/real_calls.h>
#include <mishap/trainer/harness/preload/thread_starts.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace mishap::preload {
namespace {

using Function = void* (*)(void*);

constinit Real<int(pthread_t*, const pthread_attr_t*, Function, void*)> create{
    "pthread_create"};
constinit std::atomic<void (*)()> starter{nullptr};

struct Start {
  Function function;
  void* argument;
};

void* start(void* argument) {
  const Start given = *static_cast<Start*>(argument);
  std::free(argument);
  if (const auto starts = starter.load()) {
    starts();
  }
  return given.function(given.argument);
}

// Who starts it, behind std::thread.
bool is_programs(const void* caller) noexcept {
  const Inside inside;
  collector::RawTrace trace;
  collector::capture_stack_from(trace, caller);
  for (std::size_t i = 0; i < trace.size; ++i) {
    const std::uintptr_t address = trace.addresses[i];
    if (is_in_library(address, "libstdc++.so")) {
      continue;
    }
    for (const char* const library :
         {"libtorch", "libc10", "libgomp", "libomp", "libiomp"}) {
      if (is_in_library(address, library)) {
        return false;
      }
    }
    return true;
  }
  return false;
}

}  // namespace

void set_thread_starter(void (*starts)()) noexcept { starter.store(starts); }

void look_up_thread_starts() noexcept { create.get(); }

}  // namespace mishap::preload

using namespace mishap::preload;

MISHAP_INTERPOSE int pthread_create(pthread_t* thread,
                                    const pthread_attr_t* attributes,
                                    Function function,
                                    void* argument) noexcept {
  if (is_working() && starter.load() != nullptr &&
      is_programs(__builtin_return_address(0))) {
    if (auto* const given = static_cast<Start*>(std::malloc(sizeof(Start)))) {
      *given = {function, argument};
      const int error = create(thread, attributes, start, given);
      if (error != 0) {
        std::free(given);
      }
      return error;
    }
  }
  return create(thread, attributes, function, argument);
}
