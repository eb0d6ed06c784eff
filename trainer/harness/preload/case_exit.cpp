#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/case_exit.h>
#include <mishap/trainer/harness/preload/fault.h>
#include <mishap/trainer/harness/preload/obstacles.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

namespace mishap::preload {
namespace {

void on_exit_of_case(int status, void*) {
  if (!is_working() || getpid() != agent.process || !has_struck()) {
    return;
  }
  agent.control->report.threads_left = thread_count();
  if (agent.work.load() == Work::kCase) {
    fflush(nullptr);
    _exit(status);
  }
}

// What follows is the end of libraries, which is nobody's to fail.
void on_exit_of_libraries(int status, void* argument) {
  on_exit_of_case(status, argument);
  agent.work.store(Work::kNothing);
}

}  // namespace

void end_agent_before_libraries() noexcept {
  ::on_exit(on_exit_of_libraries, nullptr);
}

void end_case_before_libraries() noexcept {
  ::on_exit(on_exit_of_case, nullptr);
}

}  // namespace mishap::preload
