// The functions of the C++ runtime by which an exception is taken and passed
// on. They tell the agent, and go on to the real ones.
#include <cxxabi.h>
#include <mishap/trainer/harness/preload/catch_site.h>
#include <mishap/trainer/harness/preload/interposed.h>
#include <mishap/trainer/harness/preload/real_calls.h>

#include <cstdint>
#include <cstdlib>
#include <typeinfo>

namespace mishap::preload {
namespace {

constinit Real<void*(void*)> begin_catch{"__cxa_begin_catch"};
constinit Real<void()> end_catch{"__cxa_end_catch"};
constinit Real<void()> rethrow{"__cxa_rethrow"};
constinit Real<void(void*)> rethrow_exception{
    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE"};

constinit Real<void(void*, std::type_info*, void (*)(void*))> throw_it{
    "__cxa_throw"};

template <typename Function>
bool is_within(Real<Function>& function, const void* caller) noexcept {
  // As long as the function is, and shorter than what comes between two.
  constexpr std::uintptr_t kLongest = 0x80;
  const auto begin = reinterpret_cast<std::uintptr_t>(function.get());
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  return at > begin && at - begin < kLongest;
}

// Nobody catches it: the runtime takes it itself, and calls terminate().
bool is_end(const void* caller) noexcept {
  return is_within(throw_it, caller) || is_within(rethrow, caller) ||
         is_within(rethrow_exception, caller);
}

}  // namespace

void look_up_catch_calls() noexcept {
  begin_catch.get();
  end_catch.get();
  rethrow.get();
  rethrow_exception.get();
  throw_it.get();
}

}  // namespace mishap::preload

MISHAP_INTERPOSE void* __cxa_begin_catch(void* unwinding) noexcept {
  const void* const caller = __builtin_return_address(0);
  if (mishap::preload::is_end(caller)) {
    mishap::preload::on_uncaught();
  } else {
    mishap::preload::on_begin_catch(unwinding, caller);
  }
  return mishap::preload::begin_catch(unwinding);
}

MISHAP_INTERPOSE void __cxa_end_catch() {
  mishap::preload::on_end_catch();
  mishap::preload::end_catch();
}

MISHAP_INTERPOSE [[noreturn]] void __cxa_rethrow() {
  mishap::preload::on_rethrow();
  mishap::preload::rethrow();
  std::abort();
}

// std::rethrow_exception(): its argument is passed by address.
MISHAP_INTERPOSE void
_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE(void* pointer) {
  mishap::preload::on_rethrow_of(*static_cast<void**>(pointer));
  mishap::preload::rethrow_exception(pointer);
}
