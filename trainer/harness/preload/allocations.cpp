// Allocations: every form of operator new is alloc/new, what LibTorch takes for
// its tensors on the CPU is alloc/cpu.
#include <mishap/trainer/harness/preload/code_places.h>
#include <mishap/trainer/harness/preload/hits.h>
#include <mishap/trainer/harness/preload/interposed.h>
#include <mishap/trainer/harness/preload/points.h>
#include <mishap/trainer/harness/preload/real_calls.h>

#include <cerrno>
#include <cstddef>
#include <new>

namespace mishap::preload {
namespace {

using Plain = void*(std::size_t);
using Nothrow = void*(std::size_t, const std::nothrow_t&);
using Aligned = void*(std::size_t, std::align_val_t);
using AlignedNothrow = void*(std::size_t, std::align_val_t,
                             const std::nothrow_t&);

constinit Real<Plain> new_one{"_Znwm"};
constinit Real<Plain> new_array{"_Znam"};
constinit Real<Nothrow> new_nothrow{"_ZnwmRKSt9nothrow_t"};
constinit Real<Nothrow> new_array_nothrow{"_ZnamRKSt9nothrow_t"};
constinit Real<Aligned> new_aligned{"_ZnwmSt11align_val_t"};
constinit Real<Aligned> new_array_aligned{"_ZnamSt11align_val_t"};
constinit Real<AlignedNothrow> new_aligned_nothrow{
    "_ZnwmSt11align_val_tRKSt9nothrow_t"};
constinit Real<AlignedNothrow> new_array_aligned_nothrow{
    "_ZnamSt11align_val_tRKSt9nothrow_t"};

/// While it lives, a form of operator new that is made of another one is one
/// hit. errno stays the callee's.
class Whole {
 public:
  Whole() noexcept : was_(is_inside_agent) { is_inside_agent = true; }
  ~Whole() { is_inside_agent = was_; }
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;

 private:
  const bool was_;
};

bool is_ours(const void* caller) noexcept {
  const Inside inside;
  return place_of(reinterpret_cast<std::uintptr_t>(caller)).is_own;
}

// May throw. Whatever a call has to do itself is to be out of memory.
void look(const void* caller) {
  if (!may_hit() || is_ours(caller)) {
    return;
  }
  if (hit(kAllocNew.number(), caller)) {
    const Inside inside;
    throw std::bad_alloc();
  }
}

// False when the call has to give null.
bool look_quietly(const void* caller) noexcept {
  try {
    look(caller);
    return true;
  } catch (...) {
    return false;
  }
}

template <typename Function, typename... Arguments>
void* make(Function& function, const void* caller, Arguments... arguments) {
  look(caller);
  const Whole whole;
  return function(arguments...);
}

template <typename Function, typename... Arguments>
void* make_quietly(Function& function, const void* caller, std::size_t size,
                   Arguments... arguments) noexcept {
  if (!look_quietly(caller)) {
    return nullptr;
  }
  const Whole whole;
  return function.get()(size, arguments..., std::nothrow);
}

}  // namespace

void look_up_allocations() noexcept {
  new_one.get();
  new_array.get();
  new_nothrow.get();
  new_array_nothrow.get();
  new_aligned.get();
  new_array_aligned.get();
  new_aligned_nothrow.get();
  new_array_aligned_nothrow.get();
}

}  // namespace mishap::preload

using namespace mishap::preload;

[[gnu::visibility("default")]] void* operator new(std::size_t size) {
  return make(new_one, __builtin_return_address(0), size);
}

[[gnu::visibility("default")]] void* operator new[](std::size_t size) {
  return make(new_array, __builtin_return_address(0), size);
}

[[gnu::visibility("default")]] void* operator new(
    std::size_t size, const std::nothrow_t&) noexcept {
  return make_quietly(new_nothrow, __builtin_return_address(0), size);
}

[[gnu::visibility("default")]] void* operator new[](
    std::size_t size, const std::nothrow_t&) noexcept {
  return make_quietly(new_array_nothrow, __builtin_return_address(0), size);
}

[[gnu::visibility("default")]] void* operator new(std::size_t size,
                                                  std::align_val_t alignment) {
  return make(new_aligned, __builtin_return_address(0), size, alignment);
}

[[gnu::visibility("default")]] void* operator new[](
    std::size_t size, std::align_val_t alignment) {
  return make(new_array_aligned, __builtin_return_address(0), size, alignment);
}

[[gnu::visibility("default")]] void* operator new(
    std::size_t size, std::align_val_t alignment,
    const std::nothrow_t&) noexcept {
  return make_quietly(new_aligned_nothrow, __builtin_return_address(0), size,
                      alignment);
}

[[gnu::visibility("default")]] void* operator new[](
    std::size_t size, std::align_val_t alignment,
    const std::nothrow_t&) noexcept {
  return make_quietly(new_array_aligned_nothrow, __builtin_return_address(0),
                      size, alignment);
}

MISHAP_INTERPOSE int posix_memalign(void** out, std::size_t alignment,
                                    std::size_t size) noexcept {
  if (may_hit()) {
    const void* const caller = __builtin_return_address(0);
    bool is_torchs = false;
    {
      const Inside inside;
      is_torchs =
          is_in_library(reinterpret_cast<std::uintptr_t>(caller), "libc10.so");
    }
    if (is_torchs) {
      if (const Strike strike = hit(kAllocCpu.number(), caller)) {
        return strike.kind == mishap::faultinject::ActionKind::kErrno
                   ? static_cast<int>(strike.number)
                   : ENOMEM;
      }
    }
  }
  return real.posix_memalign(out, alignment, size);
}
