#include <mishap/collector/resolve/interrupted_stack.h>
#include <mishap/collector/resolve/stack_walk.h>
#include <ucontext.h>
#include <unwind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mishap::collector {
namespace {

detail::WalkStart position_of(const void* context) noexcept {
  detail::WalkStart position;
  const mcontext_t& machine =
      static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__) && defined(__LP64__)
  position.instruction = static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
  position.stack_pointer = static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
  position.frame_pointer = static_cast<std::uintptr_t>(machine.gregs[REG_RBP]);
#elif defined(__aarch64__)
  position.instruction = machine.pc;
  position.stack_pointer = machine.sp;
  position.frame_pointer = machine.regs[29];
#else
  static_cast<void>(machine);
#endif
  return position;
}

struct Unwinding {
  RawTrace& out;
  std::uintptr_t first;
  bool reached = false;
};

// The unwinder starts in the handler and steps over the signal's frame; what is
// kept begins behind it.
_Unwind_Reason_Code keep(_Unwind_Context* frame, void* data) {
  auto& unwinding = *static_cast<Unwinding*>(data);
  int is_exact = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(frame, &is_exact);
  unwinding.reached = unwinding.reached || address == unwinding.first;
  if (!unwinding.reached || address == 0) {
    return _URC_NO_REASON;
  }
  RawTrace& out = unwinding.out;
  if (out.size == RawTrace::kMaxFrames) {
    out.truncated = true;
    return _URC_END_OF_STACK;
  }
  out.addresses[out.size++] = address;
  return _URC_NO_REASON;
}

// False, and `truncated` is true, when there is no room left.
bool add_caller(std::uintptr_t address, void* trace) noexcept {
  RawTrace& out = *static_cast<RawTrace*>(trace);
  out.truncated = out.size == RawTrace::kMaxFrames;
  if (!out.truncated) {
    out.addresses[out.size++] = address;
  }
  return !out.truncated;
}

}  // namespace

void capture_interrupted_stack(RawTrace& out, const void* context) noexcept {
  const detail::WalkStart position = position_of(context);
  out.truncated = false;
  out.exact_first = true;
  out.addresses[0] = position.instruction;
  out.size = 1;
  if (position.instruction != 0 &&
      detail::visit_stack(position, add_caller, &out)) {
    return;
  }
  out.size = 0;
  out.truncated = false;
  Unwinding unwinding{out, position.instruction};
  _Unwind_Backtrace(keep, &unwinding);
  if (out.size == 0) {
    out.addresses[0] = position.instruction;
    out.size = 1;
  }
}

}  // namespace mishap::collector
