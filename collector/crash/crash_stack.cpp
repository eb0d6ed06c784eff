#include <mishap/collector/crash/crash_stack.h>
#include <mishap/collector/modules.h>
#include <mishap/collector/resolve/stack_walk.h>
#include <unwind.h>

#include <algorithm>

namespace mishap::collector {

// Takes addresses one by one and keeps the first and the last ones.
class CrashStack::Collector {
 public:
  void add(std::uintptr_t address) noexcept {
    if (count_ < kFirst) {
      first_[count_] = address;
    }
    last_[count_ % kLast] = address;
    ++count_;
  }
  std::size_t count() const noexcept { return count_; }
  std::uintptr_t first(std::size_t index) const noexcept {
    return first_[index];
  }
  // `index` counts from the innermost frame; it must be one of the last ones.
  std::uintptr_t last(std::size_t index) const noexcept {
    return last_[index % kLast];
  }

  static bool visit(std::uintptr_t address, void* collector) noexcept {
    static_cast<Collector*>(collector)->add(address);
    return true;
  }

 private:
  std::array<std::uintptr_t, kFirst> first_{};
  std::array<std::uintptr_t, kLast> last_{};
  std::size_t count_ = 0;
};

namespace {

// A stack of this many frames is one that the walk goes round in.
constexpr std::size_t kMaxDepth = 4'000'000;

struct Unwinding {
  void (*add)(std::uintptr_t address, void* context);
  void* context;
  // The frame that comes first; those inside it are left out.
  std::uintptr_t from;
  bool begun = false;
  std::size_t depth = 0;
};

_Unwind_Reason_Code on_frame(_Unwind_Context* context, void* argument) {
  auto& unwinding = *static_cast<Unwinding*>(argument);
  const std::uintptr_t address = _Unwind_GetIP(context);
  unwinding.begun = unwinding.begun || address == unwinding.from;
  if (unwinding.begun && address != 0) {
    unwinding.add(address, unwinding.context);
  }
  return ++unwinding.depth < kMaxDepth ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// The stack holds words that sanitizers forbid to look at.
__attribute__((no_sanitize("address", "thread"))) std::uintptr_t word_at(
    std::uintptr_t address) noexcept {
  return *reinterpret_cast<const std::uintptr_t*>(address);
}

bool is_on_stack(std::uintptr_t address,
                 const RegisteredThread& thread) noexcept {
  return address >= thread.stack_low && address < thread.stack_high &&
         address % sizeof(std::uintptr_t) == 0;
}

}  // namespace

void CrashStack::take(const Registers& registers,
                      const RegisteredThread& thread) noexcept {
  detail::WalkStart start{registers.instruction, registers.stack_pointer,
                          registers.frame_pointer, thread.stack_high};
  Collector found;
  found.add(registers.instruction);
  // A call through a null or a wild pointer: the caller's address is on top.
  if (find_known_module(start.instruction) == kNoModule &&
      is_on_stack(start.stack_pointer, thread)) {
    start.instruction = word_at(start.stack_pointer) - 1;
    start.stack_pointer += sizeof(std::uintptr_t);
    found.add(start.instruction + 1);
  }
  // A used-up stack is left at its lower end; on a stack of the program's own
  // making only the unwinder finds the way.
  constexpr std::uintptr_t kBelow = 16U << 20U;
  const bool is_known = thread.stack_high == 0 ||
                        (start.stack_pointer < thread.stack_high &&
                         start.stack_pointer + kBelow > thread.stack_low);
  const bool whole =
      is_known && detail::visit_stack(start, Collector::visit, &found);
  if (!whole) {
    Collector unwound;
    Unwinding unwinding{[](std::uintptr_t address, void* collector) {
                          static_cast<Collector*>(collector)->add(address);
                        },
                        &unwound, registers.instruction};
    _Unwind_Backtrace(on_frame, &unwinding);
    if (unwound.count() > found.count()) {
      found = unwound;
    }
  }
  exact_first_ = true;
  keep(found);
}

void CrashStack::take_here(const void* first) noexcept {
  Collector found;
  Unwinding unwinding{[](std::uintptr_t address, void* collector) {
                        static_cast<Collector*>(collector)->add(address);
                      },
                      &found, reinterpret_cast<std::uintptr_t>(first)};
  _Unwind_Backtrace(on_frame, &unwinding);
  exact_first_ = false;
  keep(found);
}

void CrashStack::take_instruction(std::uintptr_t instruction) noexcept {
  Collector found;
  found.add(instruction);
  exact_first_ = true;
  keep(found);
}

void CrashStack::warm_up() noexcept {
  static const bool warm = [] {
    CrashStack stack;
    stack.take_here(__builtin_return_address(0));
    return true;
  }();
  static_cast<void>(warm);
}

void CrashStack::keep(const Collector& found) noexcept {
  depth_ = found.count();
  size_ = 0;
  rounds_ = 0;
  round_frames_ = 0;
  const std::size_t first = std::min(depth_, kFirst);
  if (depth_ > kFirst + kLast && fold(found)) {
    return;
  }
  while (size_ < first) {
    addresses_[size_] = found.first(size_);
    ++size_;
  }
  for (std::size_t i = std::max(first, depth_ - std::min(depth_, kLast));
       i < depth_; ++i) {
    addresses_[size_++] = found.last(i);
  }
}

bool CrashStack::fold(const Collector& found) noexcept {
  constexpr std::size_t kMaxBefore = 8;
  constexpr std::size_t kMaxRound = 16;
  const auto goes_round = [&found](std::size_t begin, std::size_t round) {
    for (std::size_t i = begin; i + round < kFirst; ++i) {
      if (found.first(i) != found.first(i + round)) {
        return false;
      }
    }
    return true;
  };
  for (std::size_t begin = 0; begin <= kMaxBefore; ++begin) {
    for (std::size_t round = 1; round <= kMaxRound; ++round) {
      if (!goes_round(begin, round)) {
        continue;
      }
      std::size_t end = depth_ - kLast;
      while (end < depth_ &&
             found.last(end) == found.first(begin + (end - begin) % round)) {
        ++end;
      }
      round_frames_ = round;
      rounds_ = (end - begin) / round;
      for (std::size_t i = 0; i < begin + round; ++i) {
        addresses_[size_++] = found.first(i);
      }
      for (std::size_t i = end; i < depth_; ++i) {
        addresses_[size_++] = found.last(i);
      }
      return true;
    }
  }
  return false;
}

}  // namespace mishap::collector
