#include <mishap/collector/clock.h>
#include <mishap/collector/crash/all_threads.h>
#include <mishap/collector/crash/own_signal.h>
#include <mishap/collector/crash/stack_request.h>
#include <mishap/collector/crash/task_file.h>
#include <mishap/collector/crash/thread_registry.h>
#include <mishap/collector/resolve/capture.h>
#include <mishap/collector/resolve/interrupted_stack.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace mishap::collector {
namespace {

constinit std::atomic_flag is_busy = ATOMIC_FLAG_INIT;

constexpr int kNotAsked = -1;

struct Busy {
  // One capture at a time: the lists are static, so that the stack of a signal
  // handler need not hold them.
  std::array<std::int32_t, kMaxStackThreads> ids{};
  std::array<std::uint64_t, kMaxStackThreads> blocked{};
  std::array<int, kMaxStackThreads> requests{};
};
constinit Busy busy{};

void describe(ThreadStack& thread, std::int32_t id) noexcept {
  thread.id = id;
  thread.name_size =
      detail::read_task_file(id, "comm", thread.name_text).size();
  thread.state_size = detail::read_task_state(id, thread.state_text).size();
  thread.trace.size = 0;
  thread.trace.truncated = false;
  thread.trace.exact_first = true;
  const auto registered = find_registered_thread(id);
  thread.role = registered       ? registered->role
                : id == getpid() ? std::string_view("main")
                                 : std::string_view();
}

void add_to_state(ThreadStack& thread, std::string_view text) noexcept {
  const std::size_t size =
      std::min(text.size(), thread.state_text.size() - thread.state_size);
  std::copy_n(text.data(), size, thread.state_text.data() + thread.state_size);
  thread.state_size += size;
}

void ask(std::span<ThreadStack> threads, int signal) noexcept {
  const std::int32_t self = gettid();
  for (std::size_t i = 0; i < threads.size(); ++i) {
    busy.requests[i] = kNotAsked;
    if (threads[i].id == self) {
      continue;
    }
    if (signal == 0) {
      add_to_state(threads[i], ", no signal is free to ask it");
    } else if ((busy.blocked[i] & detail::signal_bit(signal)) != 0) {
      add_to_state(threads[i], ", blocks the signal");
    } else {
      busy.requests[i] = detail::ask_for_stack(threads[i].id, signal);
      if (busy.requests[i] == kNotAsked) {
        add_to_state(threads[i], ", could not be asked");
      }
    }
  }
}

bool take_answers(std::span<ThreadStack> threads) noexcept {
  bool has_all = true;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    if (busy.requests[i] == kNotAsked) {
      continue;
    }
    if (detail::take_stack(busy.requests[i], threads[i].trace) ==
        detail::Answer::kTaken) {
      busy.requests[i] = kNotAsked;
    } else {
      has_all = false;
    }
  }
  return has_all;
}

void wait_for_answers(std::span<ThreadStack> threads,
                      std::chrono::milliseconds wait) noexcept {
  constexpr timespec kPause{0, 200'000};
  const Clock& clock = Clock::system();
  const std::int64_t end =
      clock.steady_nano() + std::chrono::nanoseconds(wait).count();
  while (!take_answers(threads) && clock.steady_nano() < end) {
    nanosleep(&kPause, nullptr);
  }
  for (std::size_t i = 0; i < threads.size(); ++i) {
    if (busy.requests[i] != kNotAsked) {
      detail::drop_request(busy.requests[i]);
      add_to_state(threads[i], ", no answer");
    }
  }
}

void take_own(std::span<ThreadStack> threads, const void* context) noexcept {
  const std::int32_t self = gettid();
  for (ThreadStack& thread : threads) {
    if (thread.id != self) {
      continue;
    }
    if (context != nullptr) {
      capture_interrupted_stack(thread.trace, context);
    } else {
      capture_stack(thread.trace);
    }
  }
}

}  // namespace

std::size_t capture_all_threads(std::span<ThreadStack> out,
                                const AllThreadsOptions& options) noexcept {
  if (is_busy.test_and_set()) {
    return 0;
  }
  const std::size_t count = std::min(detail::list_tasks(busy.ids), out.size());
  const auto ids = std::span(busy.ids).first(count);
  if (const auto first = std::find(ids.begin(), ids.end(), options.first);
      first != ids.end()) {
    std::rotate(ids.begin(), first, first + 1);
  }
  const std::span<ThreadStack> threads = out.first(count);
  for (std::size_t i = 0; i < count; ++i) {
    // Before anybody is disturbed.
    describe(threads[i], ids[i]);
    busy.blocked[i] = detail::read_blocked_signals(ids[i]);
  }
  take_own(threads, options.context);
  ask(threads, prepare_own_signal());
  wait_for_answers(threads, options.wait);
  is_busy.clear();
  return count;
}

}  // namespace mishap::collector
