#include <mishap/trainer/harness/program/descendants.h>
#include <mishap/trainer/harness/program/keeper.h>
#include <mishap/trainer/harness/program/keeper_process.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace mishap::program {
namespace {

// A child that is about to end gets that long.
constexpr auto kGrace = std::chrono::milliseconds(300);

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Keeper::Keeper(KeeperSetup setup) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    fail("no socket");
  }
  // What the keeper leaves when it is killed comes to this process.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  process_ = fork();
  if (process_ == 0) {
    close(ends[0]);
    be_keeper(setup, ends[1]);
  }
  close(ends[1]);
  socket_ = ends[0];
  if (process_ < 0) {
    close(socket_);
    fail("no process");
  }
}

Keeper::~Keeper() {
  KeeperOrder order;
  order.kind = KeeperOrder::kFinish;
  send(socket_, &order, sizeof order, MSG_NOSIGNAL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  close(socket_);
  // Nothing is left unless the keeper was killed.
  kill_descendants(getpid());
}

// Else the keeper would not hear that the parent is gone.
void Keeper::leave_to_parent() const { close(socket_); }

pid_t Keeper::start(Role role, const std::string& errors_path) {
  KeeperOrder order;
  order.role = role;
  if (errors_path.size() >= order.errors_path.size()) {
    throw std::length_error("the path of --out is too long");
  }
  std::ranges::copy(errors_path, order.errors_path.begin());
  if (send(socket_, &order, sizeof order, MSG_NOSIGNAL) < 0) {
    throw KeeperLost();
  }
  for (;;) {
    KeeperAnswer answer;
    const ssize_t got = recv(socket_, &answer, sizeof answer, 0);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got != static_cast<ssize_t>(sizeof answer)) {
      throw KeeperLost();
    }
    if (answer.kind == KeeperAnswer::kNotStarted) {
      throw CannotStart(answer.error, std::generic_category());
    }
    if (answer.kind == KeeperAnswer::kStarted) {
      return answer.process;
    }
    ended_[answer.process] = answer.wait_status;
  }
}

std::optional<int> Keeper::wait(pid_t process, std::chrono::milliseconds time) {
  if (!ended_.contains(process)) {
    pollfd waiting{socket_, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(time.count())) <= 0) {
      return std::nullopt;
    }
    KeeperAnswer answer;
    const ssize_t got = recv(socket_, &answer, sizeof answer, 0);
    if (got < 0 && errno == EINTR) {
      return std::nullopt;
    }
    if (got != static_cast<ssize_t>(sizeof answer)) {
      throw KeeperLost();
    }
    ended_[answer.process] = answer.wait_status;
  }
  const auto found = ended_.find(process);
  if (found == ended_.end()) {
    return std::nullopt;
  }
  const int status = found->second;
  ended_.erase(found);
  return status;
}

void Keeper::end_all(pid_t spared) { kill_descendants(process_, {spared}); }

std::vector<pid_t> Keeper::left_behind(pid_t process) const {
  const auto end = std::chrono::steady_clock::now() + kGrace;
  for (;;) {
    std::vector<pid_t> left = children_of(process_);
    std::erase(left, process);
    if (left.empty() || std::chrono::steady_clock::now() > end) {
      return left;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace mishap::program
