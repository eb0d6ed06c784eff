#include <fcntl.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/fork_at_hit.h>
#include <mishap/trainer/harness/preload/obstacles.h>
#include <mishap/trainer/harness/preload/open_descriptors.h>
#include <mishap/trainer/harness/preload/private_table.h>
#include <mishap/trainer/harness/preload/turn.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace mishap::preload {
namespace {

// One case at a time, should several threads come to one.
constinit BusyFlag at_case;

/// Where the files of this process stand: a child shares that with it.
class Offsets {
 public:
  Offsets() noexcept {
    for_each_descriptor([this](int descriptor) { keep(descriptor); });
  }

  void put_back() const noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      lseek(kept_[i].descriptor, kept_[i].offset, SEEK_SET);
    }
  }

 private:
  struct Kept {
    int descriptor;
    off_t offset;
  };

  void keep(int descriptor) noexcept {
    struct stat about {};
    if (size_ == kept_.size() || fstat(descriptor, &about) != 0 ||
        !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))) {
      return;
    }
    const off_t offset = lseek(descriptor, 0, SEEK_CUR);
    if (offset >= 0) {
      kept_[size_++] = {descriptor, offset};
    }
  }

  std::array<Kept, 1024> kept_;
  std::size_t size_ = 0;
};

/// While it lives the program hears nothing of children that end, and a child
/// that has ended can be waited for whatever the program does with them.
class QuietChildren {
 public:
  QuietChildren() noexcept {
    sigemptyset(&child_);
    sigaddset(&child_, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &child_, &mask_);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGCHLD) == 1;
    sigaction(SIGCHLD, nullptr, &action_);
    reaps_itself_ =
        action_.sa_handler == SIG_IGN || (action_.sa_flags & SA_NOCLDWAIT) != 0;
    if (reaps_itself_) {
      struct sigaction plain {};
      plain.sa_handler = SIG_DFL;
      sigaction(SIGCHLD, &plain, nullptr);
    }
  }

  ~QuietChildren() {
    const timespec now{};
    siginfo_t info{};
    if (!was_pending_) {
      while (sigtimedwait(&child_, &info, &now) == SIGCHLD) {
      }
    }
    if (reaps_itself_) {
      sigaction(SIGCHLD, &action_, nullptr);
    }
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }

  QuietChildren(const QuietChildren&) = delete;
  QuietChildren& operator=(const QuietChildren&) = delete;

 private:
  sigset_t child_;
  sigset_t mask_;
  struct sigaction action_ {};
  bool was_pending_ = false;
  bool reaps_itself_ = false;
};

void forget_report() noexcept {
  program::CaseReport& report = agent.control->report;
  report.has_fired.store(0);
  report.child.store(0);
  report.wait_status.store(0);
  report.hit_frame_count = 0;
  report.hit_python = program::kNoText;
  report.path = program::kNoText;
  report.has_thrown.store(0);
  report.thrown_type.bytes[0] = '\0';
  report.thrown_text.bytes[0] = '\0';
  report.throw_frame_count = 0;
  report.catch_kind.store(0);
  report.catch_frame_count = 0;
  report.catch_python = program::kNoText;
  report.threads_left = 0;
}

void redirect(int descriptor, const char* path, int flags) noexcept {
  const int file = open(path, flags | O_CLOEXEC, 0600);
  if (file >= 0) {
    dup2(file, descriptor);
    close(file);
  }
}

// What the child writes is nobody's output, and what the program reads later
// stays for it.
void set_up_streams() noexcept {
  struct stat input {};
  if (fstat(STDIN_FILENO, &input) == 0 && !S_ISREG(input.st_mode)) {
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  }
  redirect(STDOUT_FILENO, "/dev/null", O_WRONLY);
  const char* const errors = agent.control->case_stderr.bytes.data();
  if (*errors == '\0') {
    redirect(STDERR_FILENO, "/dev/null", O_WRONLY);
  } else {
    redirect(STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
  }
}

void become_case(pid_t program) noexcept {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != program) {
    _exit(125);
  }
  agent.process = getpid();
  agent.parent = program;
  agent.work.store(Work::kCase);
  set_up_streams();
}

int wait_for(pid_t child) noexcept {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// The child's pid in the program, 0 in the child.
pid_t run_case() noexcept {
  const pid_t program = getpid();
  const Offsets offsets;
  const QuietChildren quiet;
  forget_report();
  let_next_fork_work(true);
  const pid_t child = fork();
  let_next_fork_work(false);
  if (child == 0) {
    become_case(program);
    return 0;
  }
  program::CaseReport& report = agent.control->report;
  if (child < 0) {
    report.wait_status.store(-errno);
    return child;
  }
  setpgid(child, child);
  report.child.store(child);
  report.wait_status.store(wait_for(child));
  offsets.put_back();
  return child;
}

}  // namespace

bool fork_at_hit(std::uint32_t case_number) noexcept {
  const BusyLock lock(at_case);
  if (!lock) {
    return false;
  }
  program::Control& control = *agent.control;
  control.current.store(case_number);
  control.obstacles.store(obstacles_to_fork());
  if (hand_turn(program::Turn::kAtCase) != program::Turn::kFork) {
    control.turn.store(static_cast<std::uint32_t>(program::Turn::kProgram));
    return false;
  }
  if (run_case() == 0) {
    return true;
  }
  hand_turn(program::Turn::kChildEnded);
  return false;
}

}  // namespace mishap::preload
