#include <errno.h>
#include <fcntl.h>
#include <mishap/faultinject/pattern.h>
#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/scenario.h>
#include <mishap/faultinject/stderr_line.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/case_exit.h>
#include <mishap/trainer/harness/preload/cases.h>
#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/fault.h>
#include <mishap/trainer/harness/preload/file_filter.h>
#include <mishap/trainer/harness/preload/hit_stack.h>
#include <mishap/trainer/harness/preload/inside.h>
#include <mishap/trainer/harness/preload/interposed.h>
#include <mishap/trainer/harness/preload/obstacles.h>
#include <mishap/trainer/harness/preload/points.h>
#include <mishap/trainer/harness/preload/private_table.h>
#include <mishap/trainer/harness/preload/real_calls.h>
#include <mishap/trainer/harness/preload/torch_watch.h>
#include <mishap/trainer/harness/preload/touched.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace mishap::preload {
namespace {

constexpr const char* kPlanVariable = "MISHAP_SWEEP_FAULTS";

std::string_view variable(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

// Globs of program names, where there are any; else the process that was
// started.
bool is_target() noexcept {
  if (std::string_view names = variable(program::kFollowVariable);
      !names.empty()) {
    const std::string_view own = program_invocation_short_name;
    while (!names.empty()) {
      const std::size_t end = std::min(names.find(':'), names.size());
      if (faultinject::level_matches(names.substr(0, end), own)) {
        return true;
      }
      names.remove_prefix(std::min(end + 1, names.size()));
    }
    return false;
  }
  const std::string_view text = variable(program::kTargetVariable);
  pid_t process = 0;
  std::from_chars(text.data(), text.data() + text.size(), process);
  return process == getpid();
}

bool map_control(const std::string& path) noexcept {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat about {};
  if (file < 0 || fstat(file, &about) != 0 ||
      about.st_size < static_cast<off_t>(sizeof(program::Control))) {
    return false;
  }
  void* const memory = mmap(nullptr, sizeof(program::Control),
                            PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) {
    return false;
  }
  agent.control = static_cast<program::Control*>(memory);
  agent.control_inode = about.st_ino;
  return agent.control->magic == program::kControlMagic &&
         agent.control->version == program::kControlVersion;
}

// Two processes that are followed must not fork at one case.
bool claim(pid_t process) noexcept {
  std::int32_t owner = agent.control->process.load();
  while (owner == 0 || owner == process ||
         (kill(owner, 0) != 0 && errno == ESRCH)) {
    if (agent.control->process.compare_exchange_weak(owner, process)) {
      return true;
    }
  }
  return false;
}

// Set around the one fork() whose child is a case's.
constinit bool next_fork_works = false;

void in_child() noexcept {
  if (!next_fork_works) {
    agent.work.store(Work::kNothing);
  }
}

void begin(Work work) {
  agent.process = getpid();
  agent.parent = getppid();
  pthread_atfork(nullptr, nullptr, in_child);
  real.look_up();
  look_up_catch_calls();
  look_up_allocations();
  look_up_thread_starts();
  end_agent_before_libraries();
  agent.work.store(work);
  look_for_torch();
}

void start_sweep(const std::string& path) {
  if (!map_control(path) || !claim(getpid())) {
    return;
  }
  program::Control& control = *agent.control;
  if (!make_stack_table() || !make_touch_table() || !read_cases()) {
    return;
  }
  if (control.images.fetch_add(1) == 0) {
    note_inherited();
    // What is planned is numbered from the start of the program.
    const std::uint32_t count = control.point_count.load();
    for (std::uint32_t i = 0; i < count && i < program::kPoints; ++i) {
      control.points[i].hits.store(0);
    }
    control.hits.store(0);
    control.sequence_hash.store(0);
  }
  agent.mode = static_cast<program::Mode>(control.mode.load());
  read_point_patterns(view_of(control.patterns));
  read_file_filter(view_of(control.files), path);
  register_torch_types();
  if (agent.mode == program::Mode::kSingle) {
    set_fault(control.current.load());
  }
  begin(Work::kSweep);
}

// Otherwise a plan that misses looks like a program that survives.
void tell_what_never_struck(int, void* scenario) {
  const Inside inside;
  const auto& armed = *static_cast<const faultinject::Scenario*>(scenario);
  if (getpid() != agent.process) {
    return;
  }
  for (const std::size_t rule : armed.never_fired()) {
    faultinject::write_stderr_line(
        {"mishap: ", armed.plan().rules[rule].name.text(),
         ": this fault has not struck; 'mishap points -- CMD' lists what the "
         "program hits"});
  }
}

void start_plan(std::string_view text) {
  agent.control = make_private<program::Control>(1);
  if (agent.control == nullptr) {
    return;
  }
  agent.control->text_size.store(1);
  register_torch_types();
  std::string patterns;
  faultinject::Plan plan = faultinject::Plan::parse(text, kPlanVariable);
  for (const faultinject::Rule& rule : plan.rules) {
    patterns += rule.name.text() + '\n';
  }
  read_point_patterns(patterns);
  read_file_filter(variable("MISHAP_SWEEP_FILES"), "");
  // In force until the process ends.
  ::on_exit(tell_what_never_struck,
            new faultinject::Scenario(faultinject::arm(std::move(plan))));
  begin(Work::kPlan);
}

}  // namespace

constinit Agent agent{};

bool is_main_thread() noexcept {
  // Asking the kernel each time costs more than the rest of a hit.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local int answer =
      0;
  if (answer == 0) {
    answer = gettid() == getpid() ? 1 : -1;
  }
  return answer > 0;
}

void let_next_fork_work(bool works) noexcept { next_fork_works = works; }

bool is_of_sweep() noexcept {
  return !variable(program::kControlVariable).empty();
}

void start_agent() {
  const Inside inside;
  const std::string control(variable(program::kControlVariable));
  const std::string plan(variable(kPlanVariable));
  if ((control.empty() && plan.empty()) || !is_target()) {
    return;
  }
  if (!control.empty()) {
    start_sweep(control);
    return;
  }
  try {
    start_plan(plan);
  } catch (const faultinject::PlanError& error) {
    faultinject::write_stderr_line({"mishap: ", error.what()});
    _exit(2);
  }
}

}  // namespace mishap::preload
