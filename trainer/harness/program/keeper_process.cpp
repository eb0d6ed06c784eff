#include <fcntl.h>
#include <linux/close_range.h>
#include <mishap/trainer/harness/program/descendants.h>
#include <mishap/trainer/harness/program/job_place.h>
#include <mishap/trainer/harness/program/journal.h>
#include <mishap/trainer/harness/program/keeper_process.h>
#include <mishap/trainer/harness/program/private_view.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <set>
#include <system_error>

namespace mishap::program {
namespace {

[[noreturn]] void become(const KeeperSetup& setup, const KeeperOrder& order,
                         pid_t keeper, int errors) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) {
    _exit(127);
  }
  sigset_t all;
  sigfillset(&all);
  for (int signal = 1; signal < NSIG; ++signal) {
    ::signal(signal, SIG_DFL);
  }
  sigprocmask(SIG_UNBLOCK, &all, nullptr);
  const int nothing = open("/dev/null", O_RDWR);
  const int told = open(order.errors_path.data(),
                        O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(told >= 0 ? told : nothing, STDERR_FILENO);
  for (const int number : {nothing, told}) {
    if (number > STDERR_FILENO) {
      close(number);
    }
  }
  for (const auto& [name, value] : setup.environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  if (order.role == Role::kProgram) {
    for (const auto& [name, value] : setup.agent_environment) {
      setenv(name.c_str(), value.c_str(), 1);
    }
    setenv(setup.id_variable.c_str(), std::to_string(getpid()).c_str(), 1);
  }
  std::vector<std::string> words = setup.words;
  if (order.role == Role::kCheck) {
    words = {"/bin/sh", "-c", setup.check};
  }
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  // What this command happened to inherit is none of the program's.
  close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  execvp(arguments.front(), arguments.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t sent = write(errors, &error, sizeof error);
  _exit(127);
}

class KeeperLife {
 public:
  KeeperLife(const KeeperSetup& setup, int socket)
      : setup_(setup), socket_(socket) {}

  // Returns whether the supervisor has finished.
  bool serve() {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    const int ends = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    for (;;) {
      pollfd waiting[2] = {{socket_, POLLIN, 0}, {ends, POLLIN, 0}};
      if (poll(waiting, 2, -1) < 0) {
        continue;
      }
      if (waiting[1].revents != 0) {
        signalfd_siginfo information;
        while (read(ends, &information, sizeof information) > 0) {
        }
        reap();
      }
      if (waiting[0].revents != 0) {
        KeeperOrder order;
        const ssize_t got = recv(socket_, &order, sizeof order, 0);
        if (got != static_cast<ssize_t>(sizeof order)) {
          return false;
        }
        if (order.kind == KeeperOrder::kFinish) {
          return true;
        }
        start(order);
      }
    }
  }

 private:
  void tell(const KeeperAnswer& answer) const {
    send(socket_, &answer, sizeof answer, MSG_NOSIGNAL);
  }

  void reap() {
    int status = 0;
    for (pid_t child = 0; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (running_.erase(child) > 0) {
        tell({KeeperAnswer::kEnded, child, status, 0});
      }
    }
  }

  void start(const KeeperOrder& order) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      tell({KeeperAnswer::kNotStarted, 0, 0, errno});
      return;
    }
    const pid_t keeper = getpid();
    const pid_t child = fork();
    if (child == 0) {
      become(setup_, order, keeper, ends[1]);
    }
    close(ends[1]);
    int error = child < 0 ? errno : 0;
    if (child > 0) {
      ssize_t got = 0;
      while ((got = read(ends[0], &error, sizeof error)) < 0 &&
             errno == EINTR) {
      }
      if (got != static_cast<ssize_t>(sizeof error)) {
        error = 0;
      }
    }
    close(ends[0]);
    if (error != 0) {
      tell({KeeperAnswer::kNotStarted, child, 0, error});
      return;
    }
    running_.insert(child);
    tell({KeeperAnswer::kStarted, child, 0, 0});
  }

  const KeeperSetup& setup_;
  int socket_;
  std::set<pid_t> running_;
};

}  // namespace

void be_keeper(const KeeperSetup& setup, int socket) {
  // Ctrl-C is for the supervisor; the keeper comes after it.
  setpgid(0, 0);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_NAME, "mishap-keeper");
  const bool is_finished = KeeperLife(setup, socket).serve();
  kill_descendants(getpid());
  bool is_good = true;
  try {
    is_good = is_finished || put_back_from(setup.scratch);
  } catch (const std::exception&) {
    is_good = false;
  }
  if (is_good) {
    // What could not be put back stays there for its owner.
    wait_for_jobs(setup.scratch);
    remove_tree(setup.scratch);
  }
  _exit(0);
}

}  // namespace mishap::program
