// Lets a guarded run fail, counts the allocations, system calls and locks of
// its capture, and then fails each of them once, in a child of its own.
// Whatever fails, the body has to run, its caller to get the very object that
// it threw, and the process to live. The last line printed is the figure; the
// status is 1 when it is short.
#include <fcntl.h>
#include <mishap/guard.h>
#include <mishap/trainer/guard/guarded_call.h>
#include <mishap/trainer/guard/observer.h>
#include <mishap/trainer/harness/capture/capture_observer.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "failing_calls.h"

namespace mishap {
namespace {

constexpr unsigned kSecondsOfACase = 60;

// Hands everything to the capture, and has its calls counted and failed.
class WatchedCapture final : public Observer {
 public:
  explicit WatchedCapture(const CaptureOptions& options) : capture_(options) {}

  void on_enter(Run& run) override {
    const FailingCalls::Watched watched;
    capture_.on_enter(run);
  }
  void before(Run& run) override {
    const FailingCalls::Watched watched;
    capture_.before(run);
  }
  void after(Run& run) override {
    const FailingCalls::Watched watched;
    capture_.after(run);
  }
  void resumed(Run& run) noexcept override { capture_.resumed(run); }
  void on_failure(Run& run, const Failure& failure) noexcept override {
    const FailingCalls::Watched watched;
    capture_.on_failure(run, failure);
  }
  void on_close(Run& run, const Failure* failure) noexcept override {
    const FailingCalls::Watched watched;
    capture_.on_close(run, failure);
  }

 private:
  CaptureObserver capture_;
};

enum Verdict : int { kHeld, kOtherError, kNoError, kBodyDidNotRun };

[[gnu::noinline]] void fail_deeply(int depth) {
  if (depth == 0) throw std::runtime_error("the first error");
  fail_deeply(depth - 1);
  std::fflush(nullptr);
}

Verdict capture_once(const std::string& folder, std::size_t number) {
  CaptureOptions options;
  options.records = folder;
  bool ran = false;
  std::exception_ptr thrown;
  FailingCalls::fail(number);
  try {
    WatchedCapture capture(options);
    GuardOptions guard;
    guard.observers.push_back(&capture);
    guarded_call("fit", guard, [&](Run& run) {
      ran = true;
      run.step(1);
      try {
        fail_deeply(5);
      } catch (...) {
        thrown = std::current_exception();
        throw;
      }
    });
  } catch (...) {
    if (!ran) return kBodyDidNotRun;
    return std::current_exception() == thrown ? kHeld : kOtherError;
  }
  return kNoError;
}

struct Outcome {
  int status = 0;
  std::size_t count = 0;
  std::array<std::size_t, kCallKinds> kinds{};
  const char* failed = nullptr;
  std::array<const char*, 8'192> names{};
};

// In a child: what a failing call leaves behind meets no other case. The names
// are texts of the program, at the same place in both.
const Outcome& run_case(const std::string& folder, std::size_t number,
                        Outcome& shared) {
  shared = {};
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSecondsOfACase);
    const int quiet = ::open((folder + ".stderr").c_str(),
                             O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    dup2(quiet, STDERR_FILENO);
    const Verdict verdict = capture_once(folder, number);
    shared.count = FailingCalls::count();
    shared.failed = FailingCalls::failed();
    for (std::size_t i = 0; i < kCallKinds; ++i) {
      shared.kinds[i] = FailingCalls::count(static_cast<CallKind>(i));
    }
    for (std::size_t i = 0; i < shared.names.size(); ++i) {
      shared.names[i] = FailingCalls::name(i + 1);
    }
    _exit(verdict);
  }
  waitpid(child, &shared.status, 0);
  return shared;
}

// A line of the record in the file, or its text on stderr, or in a slot.
bool left_a_record(const std::string& folder) {
  const auto holds = [](const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    return text.find("the first error") != std::string::npos;
  };
  bool found = holds(folder + ".stderr");
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    found = found || holds(entry.path());
  }
  return found;
}

const char* what_of(const Outcome& outcome) {
  if (!WIFEXITED(outcome.status)) {
    return WTERMSIG(outcome.status) == SIGALRM ? "it did not end"
                                               : "the process died";
  }
  constexpr std::array kWords = {"held", "the caller got another error",
                                 "the error was swallowed",
                                 "the body did not run"};
  return kWords.at(static_cast<std::size_t>(WEXITSTATUS(outcome.status)));
}

// Reading symbols for the first time maps memory a thousand times over, always
// at the same few places: of these calls one in so many is failed.
constexpr std::size_t kMapsAtOnce = 16;

std::vector<std::size_t> chosen(const Outcome& clean) {
  std::vector<std::size_t> numbers;
  std::size_t maps = 0;
  for (std::size_t i = 1; i <= clean.count; ++i) {
    const char* const name =
        i <= clean.names.size() ? clean.names[i - 1] : nullptr;
    const bool is_map = name != nullptr && std::string_view(name) == "mmap";
    if (!is_map || maps++ % kMapsAtOnce == 0) numbers.push_back(i);
  }
  return numbers;
}

struct Score {
  std::size_t held = 0;
  std::size_t cases = 0;
  std::size_t recorded = 0;
};

void run_all(const std::string& folder, const char* state, Outcome& shared,
             Score& score) {
  const Outcome clean = run_case(folder, 0, shared);
  const bool good = clean.status == 0 && clean.count > 0;
  std::printf(
      "%s: %zu allocations, %zu system calls, %zu locks; without a "
      "fault it %s\n",
      state, clean.kinds[0], clean.kinds[1], clean.kinds[2],
      good && left_a_record(folder) ? "held" : what_of(clean));
  std::fflush(stdout);
  if (!good) {
    ++score.cases;
    return;
  }
  for (const std::size_t number : chosen(clean)) {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    const Outcome& outcome = run_case(folder, number, shared);
    const char* const call =
        number <= clean.names.size() ? clean.names[number - 1] : "a call";
    if (outcome.status == 0 && outcome.failed == nullptr) {
      // What another run asked for once more, as after an interrupted call.
      std::printf("%s, call %zu (%s): it was not made this time\n", state,
                  number, call);
      continue;
    }
    ++score.cases;
    if (outcome.status == 0) {
      ++score.held;
    } else {
      std::printf("%s, call %zu (%s): %s\n", state, number, call,
                  what_of(outcome));
    }
    if (left_a_record(folder)) {
      ++score.recorded;
    } else {
      std::printf("%s, call %zu (%s): no record is left\n", state, number,
                  call);
    }
    std::fflush(stdout);
  }
}

int judge(const std::string& root) {
  auto* const shared =
      new (::mmap(nullptr, sizeof(Outcome), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Outcome;
  Score score;
  run_all(root + "/records", "first capture of the process", *shared, score);
  // From here on every child knows the names already.
  capture_once(root + "/warm-up", 0);
  run_all(root + "/records", "later capture", *shared, score);
  std::printf("%zu of the cases left a record all the same\n", score.recorded);
  std::printf("self_faults: %zu of %zu\n", score.held, score.cases);
  return score.held == score.cases ? 0 : 1;
}

}  // namespace
}  // namespace mishap

// With a number: only that call of a first capture fails, in this process, for
// a debugger.
int main(int argc, char** argv) {
  std::string root =
      (std::filesystem::temp_directory_path() / "mishap-self-XXXXXX").string();
  if (mkdtemp(root.data()) == nullptr) return 1;
  const int status =
      argc > 1 ? mishap::capture_once(root, std::strtoul(argv[1], nullptr, 10))
               : mishap::judge(root);
  std::error_code ignored;
  std::filesystem::remove_all(root, ignored);
  return status;
}
