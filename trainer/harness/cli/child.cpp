#include <fcntl.h>
#include <mishap/trainer/harness/cli/child.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace mishap::cli {
namespace {

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "no pipe");
    }
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() { close_end(1); }

  // False at the end.
  bool read_into(std::string& text) const {
    std::array<char, 8192> block;
    const ssize_t got = read(ends_[0], block.data(), block.size());
    if (got > 0) {
      text.append(block.data(), static_cast<std::size_t>(got));
    }
    return got > 0 || (got < 0 && errno == EINTR);
  }

 private:
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) {
      close(ends_[end]);
      ends_[end] = -1;
    }
  }

  std::array<int, 2> ends_{-1, -1};
};

std::vector<std::string> environment_of(const ChildEnvironment& changes) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_changed =
        std::ranges::find(changes.unset, name) != changes.unset.end() ||
        std::ranges::any_of(
            changes.set, [&](const auto& pair) { return pair.first == name; });
    if (!is_changed) {
      variables.emplace_back(text);
    }
  }
  for (const auto& [name, value] : changes.set) {
    variables.push_back(name + '=' + value);
  }
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) {
    result.push_back(text.data());
  }
  result.push_back(nullptr);
  return result;
}

pid_t start(std::vector<std::string> words, std::vector<std::string> variables,
            int output, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                   O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) {
    sigaddset(&defaults, signal);
  }
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, words.front().c_str(), &actions, &attributes,
                   pointers(words).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw std::system_error(error, std::generic_category(),
                            words.front() + " cannot be started");
  }
  return child;
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& words,
                      const ChildEnvironment& environment) {
  Pipe output;
  Pipe errors;
  const pid_t child = start(words, environment_of(environment), output.writer(),
                            errors.writer());
  output.close_writer();
  errors.close_writer();

  ChildResult result;
  std::array<pollfd, 2> waiting{pollfd{output.reader(), POLLIN, 0},
                                pollfd{errors.reader(), POLLIN, 0}};
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    if (poll(waiting.data(), waiting.size(), -1) < 0) {
      continue;
    }
    if (waiting[0].revents != 0 && !output.read_into(result.output)) {
      waiting[0].fd = -1;
    }
    if (waiting[1].revents != 0 && !errors.read_into(result.errors)) {
      waiting[1].fd = -1;
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.status =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace mishap::cli
