#include <mishap/collector/resolve/stack_walk.h>
#include <mishap/collector/resolve/unwind_rule.h>

#include <array>
#include <atomic>

// Where the main thread's stack ends; of the dynamic loader.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" void* __libc_stack_end;

namespace mishap::collector::detail {
namespace {

using Kind = UnwindRule::Kind;

struct CachedRule {
  // The address mixed with the rule, so that two halves of different writers
  // match no address.
  std::atomic<std::uint64_t> key = 0;
  std::atomic<std::uint64_t> rule = 0;
};

constexpr std::size_t kCacheSize = 4096;
constinit std::array<CachedRule, kCacheSize> cache{};

std::uint64_t pack(const UnwindRule& rule) {
  return std::uint64_t{static_cast<std::uint8_t>(rule.kind)} |
         std::uint64_t{rule.saves_rbp} << 3U |
         std::uint64_t{rule.cfa_offset} << 4U |
         std::uint64_t{static_cast<std::uint32_t>(rule.rbp_offset)} << 32U;
}

UnwindRule unpack(std::uint64_t bits) {
  return {static_cast<Kind>(bits & 0x7U), (bits & 0x8U) != 0,
          static_cast<std::uint32_t>(bits) >> 4U,
          static_cast<std::int32_t>(bits >> 32U)};
}

UnwindRule rule_at(std::uintptr_t address) {
  const std::size_t index = address * 0x9E3779B97F4A7C15ULL >> 52U;
  CachedRule& cached = cache[index % kCacheSize];
  const std::uint64_t bits = cached.rule.load(std::memory_order_relaxed);
  if ((cached.key.load(std::memory_order_relaxed) ^ bits) == address) {
    return unpack(bits);
  }
  const UnwindRule rule = read_unwind_rule(address);
  // Code without tables may be replaced by other code at any time.
  if (rule.kind != Kind::kNone) {
    cached.rule.store(pack(rule), std::memory_order_relaxed);
    cached.key.store(address ^ pack(rule), std::memory_order_relaxed);
  }
  return rule;
}

struct Registers {
  std::uintptr_t instruction = 0;
  std::uintptr_t rsp = 0;
  std::uintptr_t rbp = 0;
};

// The end of the stack that `rsp` lies on: the C library puts a thread's
// control block above its stack, and the main thread's elsewhere. 0: some other
// stack.
std::uintptr_t stack_end(std::uintptr_t rsp) {
  const auto control_block =
      reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  const auto main_end = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
  if (rsp < control_block && (main_end < rsp || control_block < main_end)) {
    return control_block;
  }
  return rsp < main_end ? main_end : 0;
}

// The stack holds words that sanitizers forbid to look at.
__attribute__((no_sanitize("address", "thread"))) std::uintptr_t word_at(
    std::uintptr_t address) {
  return *reinterpret_cast<const std::uintptr_t*>(address);
}

enum class Step : std::uint8_t { kCaller, kEnd, kComplex };

Step step(Registers& frame, std::uintptr_t end) {
  const UnwindRule rule = rule_at(frame.instruction);
  if (rule.kind == Kind::kNone || rule.kind == Kind::kOutermost) {
    return Step::kEnd;
  }
  if (rule.kind == Kind::kComplex) {
    return Step::kComplex;
  }
  const std::uintptr_t base =
      rule.kind == Kind::kFromRsp ? frame.rsp : frame.rbp;
  const std::uintptr_t cfa = base + rule.cfa_offset;
  const std::uintptr_t rbp_slot =
      cfa + static_cast<std::uintptr_t>(std::intptr_t{rule.rbp_offset});
  const bool sane =
      cfa > frame.rsp && cfa <= end && cfa % 8 == 0 &&
      (!rule.saves_rbp || (rbp_slot >= frame.rsp && rbp_slot < cfa));
  if (!sane) {
    return Step::kComplex;
  }
  const std::uintptr_t caller = word_at(cfa - 8);
  if (caller == 0) {
    return Step::kEnd;
  }
  frame.rbp = rule.saves_rbp ? word_at(rbp_slot) : frame.rbp;
  frame.rsp = cfa;
  // A call may be the last instruction of its function.
  frame.instruction = caller - 1;
  return Step::kCaller;
}

// Adds the callers of `frame` to the `size` addresses that are there.
std::size_t walk_callers(Registers frame, std::span<std::uintptr_t> out,
                         std::size_t size) {
  const std::uintptr_t end = stack_end(frame.rsp);
  while (size < out.size()) {
    const Step taken = step(frame, end);
    if (taken == Step::kComplex) {
      return 0;
    }
    if (taken == Step::kEnd) {
      return size;
    }
    out[size++] = frame.instruction + 1;
  }
  return size;
}

}  // namespace

[[gnu::noinline]] std::size_t walk_stack(
    std::span<std::uintptr_t> out) noexcept {
  Registers frame;
  asm volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
               : "=&r"(frame.instruction), "=&r"(frame.rsp), "=&r"(frame.rbp));
  return walk_callers(frame, out, 0);
}

std::size_t walk_stack_from(const StackPosition& position,
                            std::span<std::uintptr_t> out) noexcept {
  if (out.empty() || position.instruction == 0) {
    return 0;
  }
  out[0] = position.instruction;
  return walk_callers({position.instruction, position.stack, position.frame},
                      out, 1);
}

}  // namespace mishap::collector::detail
