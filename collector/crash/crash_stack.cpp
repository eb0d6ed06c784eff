#include <mishap/collector/crash/crash_stack.h>
#include <mishap/collector/modules.h>
#include <mishap/collector/resolve/stack_walk.h>
#include <unwind.h>

#include <algorithm>

namespace mishap::collector {

// Takes addresses one by one and keeps the first and the last ones, and how far
// a recursion goes that the first ones end in.
class CrashStack::Collector {
 public:
  void add(std::uintptr_t address) noexcept {
    if (count_ < kFirst) {
      first_[count_] = address;
    } else if (goes_round_ && address == first_[round_first_ + phase_]) {
      phase_ = phase_ + 1 == round_ ? 0 : phase_ + 1;
    } else if (goes_round_) {
      goes_round_ = false;
      round_end_ = count_;
    }
    last_[count_ % kLast] = address;
    if (++count_ == kFirst) {
      find_round();
    }
  }
  std::size_t count() const noexcept { return count_; }
  std::uintptr_t first(std::size_t index) const noexcept {
    return first_[index];
  }
  // `index` counts from the innermost frame; it must be one of the last ones.
  std::uintptr_t last(std::size_t index) const noexcept {
    return last_[index % kLast];
  }
  // Frames in a round of the recursion, 0 without one; the first of them; and
  // how often they came in a row.
  std::size_t round_frames() const noexcept { return round_; }
  std::size_t round_first() const noexcept { return round_first_; }
  std::size_t rounds() const noexcept {
    const std::size_t end = goes_round_ ? count_ : round_end_;
    return round_ == 0 ? 0 : (end - round_first_) / round_;
  }

  static bool visit(std::uintptr_t address, void* collector) noexcept {
    static_cast<Collector*>(collector)->add(address);
    return true;
  }

 private:
  void find_round() noexcept {
    // So that at least two rounds are seen.
    constexpr std::size_t kMaxBefore = 32;
    constexpr std::size_t kMaxRound = 16;
    for (std::size_t begin = 0; begin <= kMaxBefore; ++begin) {
      for (std::size_t round = 1; round <= kMaxRound; ++round) {
        if (is_round(begin, round)) {
          goes_round_ = true;
          round_ = round;
          round_first_ = begin;
          phase_ = (kFirst - begin) % round;
          return;
        }
      }
    }
  }
  bool is_round(std::size_t begin, std::size_t round) const noexcept {
    return std::equal(
        first_.begin() + static_cast<std::ptrdiff_t>(begin),
        first_.end() - static_cast<std::ptrdiff_t>(round),
        first_.begin() + static_cast<std::ptrdiff_t>(begin + round));
  }

  std::array<std::uintptr_t, kFirst> first_{};
  std::array<std::uintptr_t, kLast> last_{};
  std::size_t count_ = 0;
  bool goes_round_ = false;
  std::size_t round_ = 0;
  std::size_t round_first_ = 0;
  std::size_t round_end_ = 0;
  std::size_t phase_ = 0;
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
  round_first_ = 0;
  std::size_t first = std::min(depth_, kFirst);
  std::size_t next = first;
  if (depth_ > kFirst + kLast && found.round_frames() > 0) {
    round_frames_ = found.round_frames();
    round_first_ = found.round_first();
    rounds_ = found.rounds();
    first = round_first_ + round_frames_;
    next = round_first_ + round_frames_ * rounds_;
  }
  while (size_ < first) {
    addresses_[size_] = found.first(size_);
    ++size_;
  }
  const std::size_t last = std::max(next, depth_ - std::min(depth_, kLast));
  truncated_ = last > next;
  for (std::size_t i = last; i < depth_; ++i) {
    addresses_[size_++] = found.last(i);
  }
}

}  // namespace mishap::collector
