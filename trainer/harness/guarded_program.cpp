#include <mishap/trainer/harness/guarded_program.h>

#include <atomic>

namespace mishap {
namespace {

constinit std::atomic<int> guarded_programs{0};

}  // namespace

GuardedProgram::GuardedProgram() noexcept { guarded_programs.fetch_add(1); }

GuardedProgram::~GuardedProgram() { guarded_programs.fetch_sub(1); }

bool GuardedProgram::is_running() noexcept {
  return guarded_programs.load() > 0;
}

}  // namespace mishap
