#include <mishap/collector/crash/all_threads.h>
#include <mishap/collector/crash/stack_request.h>
#include <mishap/collector/resolve/interrupted_stack.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace mishap::collector::detail {
namespace {

// A request's number in the upper bits, so that a signal that comes late finds
// that its slot serves another one.
enum State : std::uint64_t { kFree = 0, kAsked = 1, kWriting = 2, kDone = 3 };
constexpr unsigned kStateBits = 2;
constexpr std::uint64_t kStateMask = (1U << kStateBits) - 1;

struct Slot {
  std::atomic<std::uint64_t> ticket{0};
  RawTrace trace;
};

constinit std::array<Slot, kMaxStackThreads> slots{};
constinit std::atomic<std::uint32_t> last_number{0};

constexpr std::uint64_t ticket_of(std::uint32_t number, State state) {
  return std::uint64_t{number} << kStateBits | state;
}

// What travels with the signal: the request's number and its slot.
constexpr std::uint64_t pack(std::uint32_t number, std::size_t slot) {
  return std::uint64_t{number} << 32U | slot;
}

}  // namespace

void answer_stack_request(std::uint64_t value, const void* context) noexcept {
  const std::size_t index = value & 0xffffffffU;
  const auto number = static_cast<std::uint32_t>(value >> 32U);
  if (index >= slots.size()) {
    return;
  }
  Slot& slot = slots[index];
  std::uint64_t asked = ticket_of(number, kAsked);
  if (slot.ticket.compare_exchange_strong(asked, ticket_of(number, kWriting))) {
    capture_interrupted_stack(slot.trace, context);
    slot.ticket.store(ticket_of(number, kDone));
  }
}

int ask_for_stack(std::int32_t thread, int signal) noexcept {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Slot& slot = slots[i];
    std::uint64_t free = slot.ticket.load();
    if ((free & kStateMask) != kFree) {
      continue;
    }
    const std::uint32_t number = last_number.fetch_add(1) + 1;
    if (!slot.ticket.compare_exchange_strong(free, ticket_of(number, kAsked))) {
      continue;
    }
    siginfo_t info{};
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = reinterpret_cast<void*>(pack(number, i));
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, signal, &info) == 0) {
      return static_cast<int>(i);
    }
    slot.ticket.store(ticket_of(number, kFree));
    return -1;
  }
  return -1;
}

Answer take_stack(int request, RawTrace& out) noexcept {
  Slot& slot = slots[static_cast<std::size_t>(request)];
  const std::uint64_t ticket = slot.ticket.load();
  if ((ticket & kStateMask) != kDone) {
    return Answer::kWaiting;
  }
  out = slot.trace;
  slot.ticket.store(ticket & ~kStateMask);
  return Answer::kTaken;
}

void drop_request(int request) noexcept {
  Slot& slot = slots[static_cast<std::size_t>(request)];
  std::uint64_t ticket = slot.ticket.load();
  // One that is being written is given up for good: its writer may be slow, or
  // stuck for ever.
  while ((ticket & kStateMask) != kWriting &&
         !slot.ticket.compare_exchange_weak(ticket, ticket & ~kStateMask)) {
  }
}

}  // namespace mishap::collector::detail
