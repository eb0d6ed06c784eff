#include <mishap/collector/clock.h>
#include <mishap/collector/crash/ending_record.h>
#include <mishap/collector/crash/kernel_threads.h>
#include <mishap/collector/label/label.h>
#include <mishap/collector/record_writer.h>
#include <mishap/collector/uuid.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>

namespace mishap::collector {
namespace {

constexpr std::array kOfACrash = {SIGABRT, SIGBUS,  SIGFPE,  SIGILL, SIGSEGV,
                                  SIGSYS,  SIGTRAP, SIGXCPU, SIGXFSZ};
constexpr std::array kRequests = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

template <std::size_t kSize>
bool holds(const std::array<int, kSize>& signals, int signal) noexcept {
  return std::find(signals.begin(), signals.end(), signal) != signals.end();
}

std::string name_of(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name
                         : "signal " + std::to_string(signal);
}

// The kernel counts the kills of the group, not of the process; a limit that
// was reached meanwhile is all that can be known from outside.
bool was_out_of_memory(const Ending& ending) noexcept {
  return WIFSIGNALED(ending.wait_status) &&
         WTERMSIG(ending.wait_status) == SIGKILL &&
         ending.memory_before.oom_kills && ending.memory_after.oom_kills &&
         *ending.memory_after.oom_kills > *ending.memory_before.oom_kills;
}

std::string story_of(const Ending& ending) {
  const std::string process = "process " + std::to_string(ending.process);
  if (ending.was_hung) return process + " was ended since it hung";
  if (was_out_of_memory(ending)) {
    return process +
           " was killed while its control group ran out of memory: the kernel "
           "killed " +
           std::to_string(*ending.memory_after.oom_kills -
                          *ending.memory_before.oom_kills) +
           " there meanwhile";
  }
  if (WIFSIGNALED(ending.wait_status)) {
    const int signal = WTERMSIG(ending.wait_status);
    const pid_t sender = ending.sender_of(signal);
    return process + " was ended by " + name_of(signal) +
           (sender > 0 ? ", sent by process " + std::to_string(sender) +
                             " through its watcher"
            : signal == SIGKILL
                ? "; its control group did not run out of memory as far as can "
                  "be seen, so somebody sent it"
                : "");
  }
  return process + " exited with status " +
         std::to_string(WEXITSTATUS(ending.wait_status)) +
         " and left no record of its own";
}

class WatcherRecord {
 public:
  WatcherRecord(const WatchedRun& run, pid_t process) {
    record_.record_id = id_.view();
    record_.run_id = run.run_id;
    record_.time_unix_nano = Clock::system().unix_nano();
    record_.steady_nano = Clock::system().steady_nano();
    record_.sequence = next_sequence();
    record_.process.pid = process;
    record_.reproduce = run.reproduce;
  }

  Record& get() { return record_; }
  void note(std::string text) {
    notes_.push_back(std::move(text));
    views_.assign(notes_.begin(), notes_.end());
    record_.notes = views_;
  }
  std::string append_to(RecordSink& sink) {
    std::string line(kRecordBufferBytes, '\0');
    labels_.put_on(record_);
    const std::size_t size = write_record(record_, line);
    return sink.append_record(std::string_view(line).substr(0, size))
               ? std::string(id_.view())
               : std::string();
  }

 private:
  Uuid id_ = make_uuid();
  Record record_;
  Labels labels_;
  std::vector<std::string> notes_;
  std::vector<std::string_view> views_;
};

}  // namespace

RecordExit exit_of(const Ending& ending) noexcept {
  RecordExit exit;
  if (WIFSIGNALED(ending.wait_status)) {
    exit.signal = WTERMSIG(ending.wait_status);
  } else {
    exit.status = WEXITSTATUS(ending.wait_status);
  }
  exit.oom_kills_before = ending.memory_before.oom_kills;
  exit.oom_kills_after = ending.memory_after.oom_kills;
  exit.memory_peak_bytes = ending.memory_after.peak_bytes;
  exit.memory_limit_bytes = ending.memory_after.limit_bytes;
  if (ending.stderr_tail) exit.stderr_tail = *ending.stderr_tail;
  return exit;
}

std::optional<RecordKind> kind_of(const Ending& ending) noexcept {
  if (ending.was_hung) return RecordKind::kHang;
  if (!WIFSIGNALED(ending.wait_status)) {
    return WEXITSTATUS(ending.wait_status) == 0
               ? std::nullopt
               : std::optional(RecordKind::kExit);
  }
  const int signal = WTERMSIG(ending.wait_status);
  if (holds(kOfACrash, signal)) return RecordKind::kCrash;
  return holds(kRequests, signal) ? RecordKind::kInterrupt
                                  : RecordKind::kKilled;
}

std::string append_ending(RecordSink& sink, const WatchedRun& run,
                          const Ending& ending) {
  WatcherRecord record(run, ending.process);
  Record& out = record.get();
  out.kind = kind_of(ending).value_or(RecordKind::kExit);
  out.exit = exit_of(ending);
  out.process.rss_bytes = ending.peak_rss_bytes;
  record.note(story_of(ending));
  std::string name;
  if (WIFSIGNALED(ending.wait_status)) {
    const int signal = WTERMSIG(ending.wait_status);
    name = name_of(signal);
    const pid_t sender = ending.sender_of(signal);
    if (out.kind == RecordKind::kInterrupt) {
      out.interrupt.signal = name;
      out.interrupt.number = signal;
      if (sender > 0) out.interrupt.sender_pid = sender;
    } else {
      out.signal.number = signal;
      out.signal.name = name;
      if (sender > 0) out.signal.sender_pid = sender;
    }
  }
  return record.append_to(sink);
}

std::string append_hang(RecordSink& sink, const WatchedRun& run, pid_t process,
                        std::chrono::milliseconds silence,
                        std::string_view sign,
                        std::span<const RecordThreadStack> threads) {
  WatcherRecord record(run, process);
  Record& out = record.get();
  out.kind = RecordKind::kHang;
  const std::vector<KernelThread> seen =
      threads.empty() ? kernel_threads(process) : std::vector<KernelThread>();
  std::vector<RecordThreadStack> without_stacks;
  for (const KernelThread& thread : seen) {
    RecordThreadStack& stack = without_stacks.emplace_back();
    stack.id = thread.id;
    stack.name = thread.name;
    stack.role = thread.id == process ? "main" : "";
    stack.state = thread.state;
  }
  out.threads = threads;
  if (threads.empty()) out.threads = without_stacks;
  out.process.threads = static_cast<std::int64_t>(out.threads.size());
  record.note(
      "process " + std::to_string(process) + " has given " + std::string(sign) +
      " for " + std::to_string(silence.count()) + " ms" +
      (threads.empty() ? "; seen from outside, its threads have no stacks"
                       : ""));
  return record.append_to(sink);
}

}  // namespace mishap::collector
