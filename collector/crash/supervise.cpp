#include <fcntl.h>
#include <mishap/collector/crash/supervise.h>
#include <mishap/collector/crash/text_tail.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace mishap::collector {
namespace {

using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

[[noreturn]] void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int file) : file_(file) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return file_; }
  void reset(int file = -1) {
    if (file_ >= 0) close(file_);
    file_ = file;
  }

 private:
  int file_ = -1;
};

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("no pipe");
    reader.reset(ends[0]);
    writer.reset(ends[1]);
  }
  Descriptor reader;
  Descriptor writer;
};

// What this process found, for the child to have it too.
struct FoundSignals {
  sigset_t mask{};
  struct sigaction of_children {};
};

// From here on signals wait in the descriptor that is returned. None gets a
// handler, so that what is ignored stays ignored in the child.
int take_signals(FoundSignals& found) {
  struct sigaction fallback {};
  fallback.sa_handler = SIG_DFL;
  // Ignored, the end of a child could not be waited for.
  sigaction(SIGCHLD, &fallback, &found.of_children);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &found.mask);
  const int file = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
  if (file < 0) throw_errno("no signalfd");
  return file;
}

[[noreturn]] void become(const Supervision& supervision,
                         const FoundSignals& found, int stderr_writer,
                         int problem_writer) {
  std::vector<char*> words;
  for (const std::string& word : supervision.words) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  for (const auto& [name, value] : supervision.environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  for (const std::string& name : supervision.id_variables) {
    setenv(name.c_str(), std::to_string(getpid()).c_str(), 1);
  }
  if (stderr_writer >= 0) dup2(stderr_writer, STDERR_FILENO);
  sigaction(SIGCHLD, &found.of_children, nullptr);
  sigprocmask(SIG_SETMASK, &found.mask, nullptr);
  execvp(words.front(), words.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t told =
      write(problem_writer, &error, sizeof error);
  _exit(127);
}

bool is_from_a_process(const signalfd_siginfo& info) {
  return info.ssi_code == SI_USER || info.ssi_code == SI_QUEUE ||
         info.ssi_code == SI_TKILL;
}

bool has_terminal() {
  const Descriptor terminal(open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY));
  return terminal.get() >= 0;
}

class Watch {
 public:
  explicit Watch(const Supervision& supervision)
      : supervision_(supervision),
        signals_(take_signals(found_)),
        last_sign_(Steady::now()) {}

  Ending run() {
    start();
    while (!ended_) wait_and_serve();
    drain();
    ending_.memory_after = memory_evidence(getpid());
    if (supervision_.keeps_stderr) ending_.stderr_tail = tail_.text();
    return std::move(ending_);
  }

 private:
  void start() {
    ending_.memory_before = memory_evidence(getpid());
    Pipe problem;
    std::optional<Pipe> errors;
    if (supervision_.keeps_stderr) errors.emplace();
    ending_.process = fork();
    if (ending_.process < 0) throw_errno("no child process");
    if (ending_.process == 0) {
      become(supervision_, found_, errors ? errors->writer.get() : -1,
             problem.writer.get());
    }
    problem.writer.reset();
    int error = 0;
    if (::read(problem.reader.get(), &error, sizeof error) == sizeof error) {
      waitpid(ending_.process, nullptr, 0);
      throw std::system_error(error, std::generic_category(),
                              supervision_.words.front());
    }
    if (errors) {
      errors_.reset(fcntl(errors->reader.get(), F_DUPFD_CLOEXEC, 0));
      fcntl(errors_.get(), F_SETFL, O_NONBLOCK);
    }
  }

  void wait_and_serve() {
    // What could not be passed on yet keeps the rest in the child's pipe, as
    // a slow reader of its own would.
    const bool is_behind = !unwritten_.empty();
    std::array<pollfd, 3> files = {
        pollfd{signals_.get(), POLLIN, 0},
        pollfd{is_behind ? -1 : errors_.get(), POLLIN, 0},
        pollfd{is_behind ? STDERR_FILENO : -1, POLLOUT, 0}};
    poll(files.data(), files.size(), patience());
    if (files[2].revents != 0) pass_on();
    if (files[1].revents != 0) read_errors();
    if (files[0].revents != 0) take_pending_signals();
    look_for_life();
  }

  int patience() const {
    if (kill_at_) {
      const auto left =
          std::chrono::ceil<milliseconds>(*kill_at_ - Steady::now());
      return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000));
    }
    if (!supervision_.hang_after) return -1;
    return static_cast<int>(
        std::clamp<std::int64_t>(supervision_.hang_after->count() / 4, 1, 500));
  }

  // False when there is nothing to read now.
  bool read_errors() {
    std::array<char, 4096> block;
    const ssize_t got = ::read(errors_.get(), block.data(), block.size());
    if (got > 0) {
      const std::string_view text(block.data(), static_cast<std::size_t>(got));
      tail_.add(text);
      unwritten_.append(text);
      // Of a program with hooks only they count: another thread may go on
      // writing.
      if (!pulse_) show_life();
      pass_on();
      return true;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) errors_.reset();
    return false;
  }

  void pass_on() {
    pollfd out{STDERR_FILENO, POLLOUT, 0};
    while (!unwritten_.empty() && poll(&out, 1, 0) > 0) {
      // No more than a pipe takes at once when it takes anything.
      const std::size_t size = std::min<std::size_t>(unwritten_.size(), 4096);
      const ssize_t put = write(STDERR_FILENO, unwritten_.data(), size);
      if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
      // Nobody reads any more: the tail is all that is left of it.
      unwritten_.erase(
          0, put < 0 ? unwritten_.size() : static_cast<std::size_t>(put));
    }
  }

  // What the child wrote before it ended; a grandchild may go on writing.
  void drain() {
    constexpr int kMostBlocks = 64;
    for (int i = 0; i < kMostBlocks && errors_.get() >= 0 && read_errors();) {
      ++i;
    }
    pollfd out{STDERR_FILENO, POLLOUT, 0};
    while (!unwritten_.empty() && poll(&out, 1, 1'000) > 0) pass_on();
  }

  void take_pending_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGCHLD) {
        reap();
      } else if (!ended_) {
        hand_on(signal, info);
      }
    }
    // One SIGCHLD may stand for several.
    reap();
  }

  void hand_on(int signal, const signalfd_siginfo& info) {
    const auto sender = static_cast<pid_t>(info.ssi_pid);
    // Of a hang-up the kernel tells the leader of the session alone.
    const bool is_hang_up =
        signal == SIGHUP && info.ssi_code > 0 && getsid(0) == getpid();
    const bool is_own = is_from_a_process(info) &&
                        (sender == ending_.process || sender == getpid());
    if (is_own || (!is_from_a_process(info) && !is_hang_up)) return;
    if (info.ssi_code == SI_QUEUE) {
      sigval value{};
      value.sival_ptr = reinterpret_cast<void*>(info.ssi_ptr);
      sigqueue(ending_.process, signal, value);
    } else {
      kill(ending_.process, signal);
    }
    ending_.handed_on.emplace_back(signal, is_hang_up ? 0 : sender);
  }

  void reap() {
    int status = 0;
    rusage usage{};
    for (pid_t child = 0;
         (child = wait4(-1, &status, WNOHANG | WUNTRACED, &usage)) > 0;) {
      if (child != ending_.process) continue;
      if (WIFSTOPPED(status)) {
        stop_too(WSTOPSIG(status));
        continue;
      }
      ending_.wait_status = status;
      ending_.peak_rss_bytes = usage.ru_maxrss * 1024;
      ended_ = true;
    }
  }

  // Under job control the shell waits for this process.
  void stop_too(int signal) {
    if (getpid() == 1 || signal == SIGSTOP || !has_terminal()) return;
    raise(SIGSTOP);
    // Gone on: so does the child, which the shell may not have told.
    kill(ending_.process, SIGCONT);
    show_life();
  }

  void show_life() {
    last_sign_ = Steady::now();
    is_told_ = false;
  }

  void look_for_life() {
    if (ended_) return;
    const auto now = Steady::now();
    if (kill_at_) {
      if (now >= *kill_at_) kill(ending_.process, SIGKILL);
      return;
    }
    if (!supervision_.hang_after) return;
    const auto pulse = supervision_.pulse ? supervision_.pulse(ending_.process)
                                          : std::optional<std::uint64_t>();
    if (pulse != pulse_) {
      pulse_ = pulse;
      show_life();
    }
    const auto silence =
        std::chrono::duration_cast<milliseconds>(now - last_sign_);
    if (is_told_ || silence < *supervision_.hang_after) return;
    is_told_ = true;
    if (supervision_.on_hang) supervision_.on_hang(ending_.process, silence);
    if (supervision_.ends_hung) {
      ending_.was_hung = true;
      kill(ending_.process, SIGTERM);
      kill(ending_.process, SIGCONT);
      kill_at_ = now + supervision_.kill_after;
    }
  }

  const Supervision& supervision_;
  FoundSignals found_;
  Descriptor signals_;
  Descriptor errors_;
  TextTail tail_;
  std::string unwritten_;
  Ending ending_;
  bool ended_ = false;
  Steady::time_point last_sign_;
  std::optional<std::uint64_t> pulse_;
  bool is_told_ = false;
  std::optional<Steady::time_point> kill_at_;
};

}  // namespace

pid_t Ending::sender_of(int signal) const noexcept {
  const auto last =
      std::find_if(handed_on.rbegin(), handed_on.rend(),
                   [signal](const auto& pair) { return pair.first == signal; });
  return last == handed_on.rend() ? 0 : last->second;
}

Ending supervise(const Supervision& supervision) {
  return Watch(supervision).run();
}

void end_like(int wait_status) noexcept {
  if (!WIFSIGNALED(wait_status)) _exit(WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  struct sigaction fallback {};
  fallback.sa_handler = SIG_DFL;
  sigaction(signal, &fallback, nullptr);
  // Sent before it is let through: what else waits must not be first.
  raise(signal);
  sigset_t only;
  sigfillset(&only);
  sigdelset(&only, signal);
  sigprocmask(SIG_SETMASK, &only, nullptr);
  _exit(128 + signal);
}

}  // namespace mishap::collector
