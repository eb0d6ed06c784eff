// A hook that hangs with the lock of the heap held, as one does whose thread
// was stopped in the middle of malloc(): whoever allocates from then on hangs
// too. The record has to come all the same, from the watchdog's thread and from
// the handler that the end of a grace period runs in.
#include <mishap/trainer/harness/guard.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>

#include "../temp_folder.h"

namespace {
pthread_mutex_t heap = PTHREAD_MUTEX_INITIALIZER;

class HeapLock {
 public:
  HeapLock() { pthread_mutex_lock(&heap); }
  ~HeapLock() { pthread_mutex_unlock(&heap); }
  HeapLock(const HeapLock&) = delete;
  HeapLock& operator=(const HeapLock&) = delete;
};
}  // namespace

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* old, std::size_t bytes);
void __libc_free(void* memory);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

void* malloc(std::size_t bytes) noexcept {
  const HeapLock lock;
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  const HeapLock lock;
  return __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) noexcept {
  const HeapLock lock;
  return __libc_realloc(old, bytes);
}
void free(void* memory) noexcept {
  const HeapLock lock;
  __libc_free(memory);
}
}

namespace {

using std::chrono::milliseconds;

void hang_with_the_lock() {
  pthread_mutex_lock(&heap);
  while (true) {
    pause();
  }
}

int train(const mishap::HarnessOptions& options,
          const std::function<void()>& step) {
  return mishap::guarded_main(0, nullptr, [&] {
    mishap::guard(
        "fit",
        [&](mishap::Run& run) {
          run.call(mishap::Hook::kTrainingStep,
                   mishap::Component::named("module"), step);
        },
        options);
  });
}

// The number of lines that hold `text`.
int lines_with(const std::string& path, const std::string& text) {
  std::ifstream file(path);
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    count += line.find(text) != std::string::npos ? 1 : 0;
  }
  return count;
}

bool expect(const char* name, int expected_status,
            const std::function<int()>& program) {
  const mishap::testing::TempFolder folder;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    setenv("MISHAP_RECORDS", folder.path().c_str(), 1);
    alarm(20);
    _exit(program());
  }
  int status = 0;
  waitpid(child, &status, 0);
  const int hangs =
      lines_with(folder.path() + "/records.jsonl", R"("kind":"hang")");
  const int rows =
      lines_with(folder.path() + "/runs.jsonl", R"("outcome":"hung")");
  const bool is_good = WIFEXITED(status) &&
                       WEXITSTATUS(status) == expected_status && hangs == 1 &&
                       rows == 1;
  std::printf("%s: %s: status %d, %d records of kind hang, %d rows\n", name,
              is_good ? "ok" : "FAILED",
              WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
              hangs, rows);
  return is_good;
}

}  // namespace

int main() {
  mishap::HarnessOptions watched;
  watched.hang.after = milliseconds(200);
  const bool by_watchdog = expect(
      "watchdog", 124, [&] { return train(watched, hang_with_the_lock); });

  mishap::HarnessOptions graced;
  graced.hang.grace_period = milliseconds(200);
  const bool by_grace = expect("grace period", 128 + SIGTERM, [&] {
    return train(graced, [] {
      raise(SIGTERM);
      hang_with_the_lock();
    });
  });
  return by_watchdog && by_grace ? 0 : 1;
}
