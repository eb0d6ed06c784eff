#include <dlfcn.h>
#include <mishap/collector/throw_hook.h>
#include <mishap/collector/throw_store.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

// No `throw` and no header that declares __cxa_throw differently (LibTorch's
// do) may be in this file.
namespace mishap::collector {
namespace {

using ThrowFunction = void (*)(void*, std::type_info*, detail::Destructor);

constinit std::atomic<ThrowFunction> next_throw = nullptr;

enum class Probe : unsigned char { kNone, kRunning, kSeen };
[[gnu::tls_model("initial-exec")]] constinit thread_local Probe probe =
    Probe::kNone;

ThrowFunction find_next() {
  void* symbol = dlsym(RTLD_NEXT, "__cxa_throw");
  if (symbol == nullptr) {
    void* library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_NOLOAD);
    symbol = library == nullptr ? nullptr : dlsym(library, "__cxa_throw");
  }
  const auto found = reinterpret_cast<ThrowFunction>(symbol);
  next_throw.store(found, std::memory_order_release);
  return found;
}

// At load, since dlsym may allocate, which is too late once a std::bad_alloc is
// on its way.
[[gnu::constructor]] void resolve_next() { find_next(); }

[[noreturn]] void forward(void* object, std::type_info* type,
                          detail::Destructor destroy) {
  ThrowFunction next = next_throw.load(std::memory_order_acquire);
  // Other libraries throw before this one's constructors have run.
  if (next == nullptr) {
    next = find_next();
  }
  if (next != nullptr) {
    next(object, type, destroy);
  }
  constexpr std::string_view kLine =
      "mishap: no __cxa_throw to forward to; link the shared libstdc++\n";
  static_cast<void>(!write(STDERR_FILENO, kLine.data(), kLine.size()));
  std::abort();
}

bool probe_libstdcxx() noexcept {
  probe = Probe::kRunning;
  try {
    static_cast<void>(std::string().at(0));
  } catch (const std::exception&) {
  }
  const bool seen = probe == Probe::kSeen;
  probe = Probe::kNone;
  return seen;
}

}  // namespace

bool hook_is_live() noexcept {
  static const bool live = probe_libstdcxx();
  return live;
}

}  // namespace mishap::collector

extern "C" [[noreturn, gnu::visibility("default")]] void __cxa_throw(
    void* object, std::type_info* type, void (*destroy)(void*)) {
  using mishap::collector::Probe;
  if (mishap::collector::probe != Probe::kNone) {
    mishap::collector::probe = Probe::kSeen;
  } else {
    destroy = mishap::collector::detail::record_throw(
        object, type, destroy, __builtin_return_address(0));
  }
  mishap::collector::forward(object, type, destroy);
}
