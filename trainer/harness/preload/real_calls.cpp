#include <dlfcn.h>
#include <mishap/trainer/harness/preload/inside.h>
#include <mishap/trainer/harness/preload/real_calls.h>

namespace mishap::preload {

constinit thread_local bool is_inside_agent = false;
constinit RealCalls real{};

void* find_next(const char* name) noexcept { return dlsym(RTLD_NEXT, name); }

}  // namespace mishap::preload
