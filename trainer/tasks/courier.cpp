#include <fcntl.h>
#include <mishap/trainer/tasks/courier.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>
#include <utility>

namespace mishap::tasks {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), "Courier: " + what);
}

void close_and_forget(int& descriptor) noexcept {
  if (descriptor >= 0) {
    ::close(std::exchange(descriptor, -1));
  }
}

}  // namespace

Courier::Courier(std::filesystem::path folder) : folder_(std::move(folder)) {}

Courier::~Courier() { close(); }

void Courier::setup(Session&) {
  close();
  std::filesystem::create_directories(folder_);
  std::string name = (folder_ / "courier-XXXXXX").native();
  file_ = mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) {
    fail("no file in " + folder_.native());
  }
  path_ = name;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets_) != 0) {
    fail("no pair of sockets");
  }
  // Signals are the main thread's.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { deliver(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Courier::deliver() const {
  std::array<char, 64> letters{};
  for (;;) {
    const ssize_t count = ::read(sockets_[1], letters.data(), letters.size());
    if (count <= 0) {
      return;
    }
    if (::write(file_, letters.data(), static_cast<std::size_t>(count)) < 0) {
      return;
    }
  }
}

void Courier::send(char letter) const {
  if (::send(sockets_[0], &letter, 1, MSG_NOSIGNAL) != 1) {
    fail("a letter could not be sent");
  }
}

void Courier::on_train_batch_end(Session&, const torch::Tensor&, const Batch&,
                                 std::int64_t) {
  send('b');
}

void Courier::on_validation_end(Session&) { send('v'); }

void Courier::teardown(Session&) { close(); }

void Courier::close() noexcept {
  // The thread's read ends when its other end is closed.
  close_and_forget(sockets_[0]);
  if (thread_.joinable()) {
    thread_.join();
  }
  close_and_forget(sockets_[1]);
  close_and_forget(file_);
  if (!path_.empty()) {
    std::error_code ignored;
    std::filesystem::remove(std::exchange(path_, {}), ignored);
  }
}

}  // namespace mishap::tasks
