#include <fcntl.h>
#include <mishap/collector/resolve/resolver.h>
#include <mishap/trainer/harness/cli/names_in_child.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace mishap::cli {
namespace {

using collector::NamedFrame;

// A file that makes the child hang, or that takes it this long, names nothing.
constexpr unsigned kMaxSeconds = 60;

// The answer of the child: a line "@" for each address, then four lines for
// each function there, the innermost first.
std::string names_as_text(const std::string& file, bool is_foreign,
                          const std::vector<std::uint64_t>& offsets) {
  std::ostringstream text;
  for (const std::uint64_t offset : offsets) {
    text << "@\n";
    for (const collector::Frame& frame :
         collector::names_in_file(file, offset, is_foreign)) {
      const auto name = frame.function.empty() ? frame.symbol : frame.function;
      text << name << '\n'
           << frame.file << '\n'
           << frame.line << '\n'
           << frame.in_app << '\n';
    }
  }
  return text.str();
}

std::vector<std::vector<NamedFrame>> parse(const std::string& answer) {
  std::vector<std::vector<NamedFrame>> all;
  std::istringstream lines(answer);
  NamedFrame frame;
  std::string line;
  std::string in_app;
  while (std::getline(lines, frame.function)) {
    if (frame.function == "@") {
      all.emplace_back();
    } else if (std::getline(lines, frame.file) && std::getline(lines, line) &&
               std::getline(lines, in_app) && !all.empty()) {
      frame.line = static_cast<std::int32_t>(std::atoi(line.c_str()));
      frame.in_app = in_app == "1";
      if (!frame.function.empty()) {
        all.back().push_back(frame);
      }
    }
  }
  return all;
}

void write_all(int target, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(target, text.data(), text.size());
    if (written <= 0) {
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string read_all(int source) {
  std::string text;
  std::array<char, 4096> part;
  for (ssize_t size = 0; (size = read(source, part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(size));
  }
  return text;
}

// What `work` gives in a child process; what came of it, if that one dies.
template <class Work>
std::string in_child(Work work) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  const pid_t child = fork();
  if (child == 0) {
    // With its parent it has nobody to answer.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(kMaxSeconds);
    // A crash in here is no failure of the program.
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGALRM}) {
      std::signal(signal, SIG_DFL);
    }
    try {
      write_all(ends[1], work());
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text = child < 0 ? std::string() : read_all(ends[0]);
  close(ends[0]);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace

std::vector<std::vector<NamedFrame>> names_in_child(
    const std::string& file, bool is_foreign,
    const std::vector<std::uint64_t>& offsets) {
  return parse(
      in_child([&] { return names_as_text(file, is_foreign, offsets); }));
}

}  // namespace mishap::cli
