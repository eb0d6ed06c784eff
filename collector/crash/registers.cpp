#include <mishap/collector/crash/registers.h>
#include <ucontext.h>

namespace mishap::collector {

#if defined(__x86_64__)

Registers::Registers(const void* context) noexcept {
  struct Known {
    int index;
    std::string_view name;
  };
  constexpr std::array kKnown = {
      Known{REG_RIP, "rip"}, Known{REG_RSP, "rsp"}, Known{REG_RBP, "rbp"},
      Known{REG_RAX, "rax"}, Known{REG_RBX, "rbx"}, Known{REG_RCX, "rcx"},
      Known{REG_RDX, "rdx"}, Known{REG_RSI, "rsi"}, Known{REG_RDI, "rdi"},
      Known{REG_R8, "r8"},   Known{REG_R9, "r9"},   Known{REG_R10, "r10"},
      Known{REG_R11, "r11"}, Known{REG_R12, "r12"}, Known{REG_R13, "r13"},
      Known{REG_R14, "r14"}, Known{REG_R15, "r15"}, Known{REG_EFL, "eflags"},
      Known{REG_CR2, "cr2"}, Known{REG_ERR, "err"}, Known{REG_TRAPNO, "trap"}};
  const auto& saved = static_cast<const ucontext_t*>(context)->uc_mcontext;
  for (const Known& known : kKnown) {
    all_[count_++] = {known.name,
                      static_cast<std::uint64_t>(saved.gregs[known.index])};
  }
  instruction = static_cast<std::uintptr_t>(saved.gregs[REG_RIP]);
  stack_pointer = static_cast<std::uintptr_t>(saved.gregs[REG_RSP]);
  frame_pointer = static_cast<std::uintptr_t>(saved.gregs[REG_RBP]);
}

#elif defined(__aarch64__)

Registers::Registers(const void* context) noexcept {
  constexpr std::array<std::string_view, 31> kNames = {
      "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",
      "x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
      "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
      "x24", "x25", "x26", "x27", "x28", "x29", "x30"};
  const auto& saved = static_cast<const ucontext_t*>(context)->uc_mcontext;
  all_[count_++] = {"pc", saved.pc};
  all_[count_++] = {"sp", saved.sp};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    all_[count_++] = {kNames[i], saved.regs[i]};
  }
  instruction = saved.pc;
  stack_pointer = saved.sp;
  frame_pointer = saved.regs[29];
}

#else

Registers::Registers(const void*) noexcept {}

#endif

}  // namespace mishap::collector
