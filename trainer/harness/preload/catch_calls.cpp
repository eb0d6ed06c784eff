// The functions of the C++ runtime by which an exception is taken and passed
// on. They tell the agent, and go on to the real ones.
#include <cxxabi.h>
#include <mishap/trainer/harness/preload/catch_site.h>
#include <mishap/trainer/harness/preload/interposed.h>
#include <mishap/trainer/harness/preload/real_calls.h>

#include <cstdlib>

namespace mishap::preload {
namespace {

constinit Real<void*(void*)> begin_catch{"__cxa_begin_catch"};
constinit Real<void()> end_catch{"__cxa_end_catch"};
constinit Real<void()> rethrow{"__cxa_rethrow"};
constinit Real<void(void*)> rethrow_exception{
    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE"};

}  // namespace

void look_up_catch_calls() noexcept {
  begin_catch.get();
  end_catch.get();
  rethrow.get();
  rethrow_exception.get();
}

}  // namespace mishap::preload

MISHAP_INTERPOSE void* __cxa_begin_catch(void* unwinding) noexcept {
  mishap::preload::on_begin_catch(unwinding, __builtin_return_address(0));
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
