#include <cxxabi.h>
#include <dlfcn.h>
#include <mishap/collector/clock.h>
#include <mishap/collector/resolve/capture.h>
#include <mishap/collector/throw_store.h>
#include <mishap/trainer/harness/preload/catch_site.h>
#include <mishap/trainer/harness/preload/throw_notes.h>
#include <mishap/trainer/harness/preload/thrown_text.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace mishap::preload {
namespace {

using Destroy = void (*)(void*);
using Throw = void (*)(void*, std::type_info*, Destroy);

constinit std::atomic<bool> notes{false};
constinit std::atomic<std::uint64_t> thrown{0};
// Held by the one throw that is being noted, and by a reader; nobody waits.
constinit std::atomic<bool> is_busy{false};
constinit ThrowNote last{};
[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_inside =
    false;

Throw next_throw() noexcept {
  static const auto next =
      reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  return next;
}

void take_message(void* object, const std::type_info& type) noexcept {
  last.text_size = 0;
  void* base = object;
  last.has_message = is_standard_exception(base, type);
  if (const char* const what = text_of_thrown(object, type)) {
    last.text_size = std::min(std::strlen(what), last.text.size());
    std::copy_n(what, last.text_size, last.text.data());
  }
}

void note(void* object, const std::type_info& type,
          const void* caller) noexcept {
  thrown.fetch_add(1, std::memory_order_relaxed);
  if (is_busy.exchange(true, std::memory_order_acquire)) {
    return;
  }
  last.type = &type;
  last.thread_id = gettid();
  last.steady_nanos = collector::Clock::system().steady_nano();
  collector::capture_stack_from(last.trace, caller);
  take_message(object, type);
  is_busy.store(false, std::memory_order_release);
}

}  // namespace

void note_throws() noexcept {
  collector::warm_up_capture();
  notes.store(true);
}

std::uint64_t throws_noted() noexcept { return thrown.load(); }

bool last_throw(ThrowNote& out) noexcept {
  if (thrown.load() == 0 || is_busy.exchange(true, std::memory_order_acquire)) {
    return false;
  }
  out = last;
  is_busy.store(false, std::memory_order_release);
  return out.type != nullptr;
}

bool is_hooked_by_others() noexcept {
  Dl_info first{};
  Dl_info own{};
  return dladdr(dlsym(RTLD_DEFAULT, "__cxa_throw"), &first) != 0 &&
         dladdr(reinterpret_cast<void*>(&note_throws), &own) != 0 &&
         first.dli_fbase != own.dli_fbase;
}

}  // namespace mishap::preload

extern "C" [[noreturn, gnu::visibility("default")]] void __cxa_throw(
    void* object, std::type_info* type, void (*destroy)(void*)) {
  using namespace mishap::preload;
  on_throw(object, *type, __builtin_return_address(0));
  if (notes.load(std::memory_order_relaxed) && !is_inside) {
    // What an exception does while it is asked for its text is no new error.
    is_inside = true;
    const void* const caller = __builtin_return_address(0);
    note(object, *type, caller);
    destroy =
        mishap::collector::detail::record_throw(object, type, destroy, caller);
    is_inside = false;
  }
  if (const Throw next = next_throw()) {
    next(object, type, destroy);
  }
  std::abort();
}
