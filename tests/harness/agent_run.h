#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <mishap/trainer/harness/program/control.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../temp_folder.h"

namespace mishap::testing {

/// What the agent told of one case.
struct AgentCase {
  std::uint32_t number = 0;
  std::uint32_t obstacles = 0;
  bool has_fired = false;
  /// 128 + n when signal n ended it; -1 where none was forked.
  int status = -1;
  program::CatchKind catch_kind = program::CatchKind::kNone;
  std::string catch_python;
  std::vector<program::CodePlace> catch_frames;
  std::vector<program::CodePlace> hit_frames;
  std::string hit_python;
  std::string thrown_type;
  std::string thrown_text;
  std::string path;
  std::string standard_error;
};

/// One program under the agent, in a folder of its own, with this test as its
/// supervisor.
class AgentRun {
 public:
  AgentRun(program::Mode mode, std::vector<std::string> words)
      : words_(std::move(words)) {
    std::filesystem::create_directories(folder_.path() + "/sweep");
    std::filesystem::create_directories(work());
    const int file = open(control_path().c_str(), O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof(program::Control)) != 0) {
      throw std::runtime_error("no control file");
    }
    void* const memory = mmap(nullptr, sizeof(program::Control),
                              PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) {
      throw std::runtime_error("no control file");
    }
    control_ = static_cast<program::Control*>(memory);
    control_->magic = program::kControlMagic;
    control_->version = program::kControlVersion;
    control_->mode.store(static_cast<std::uint32_t>(mode));
    control_->text_size.store(1);
    put(control_->case_stderr, folder_.path() + "/sweep/case_stderr");
  }

  ~AgentRun() { munmap(control_, sizeof(program::Control)); }
  AgentRun(const AgentRun&) = delete;
  AgentRun& operator=(const AgentRun&) = delete;

  program::Control& control() { return *control_; }
  std::string work() const { return folder_.path() + "/work"; }
  std::string control_path() const { return folder_.path() + "/sweep/control"; }

  template <std::size_t kSize>
  static void put(program::Text<kSize>& to, const std::string& text) {
    std::memcpy(to.bytes.data(), text.c_str(), text.size() + 1);
  }

  void plan(const std::string& point, std::uint64_t hit,
            const std::string& action, bool is_persistent = false) {
    program::CaseEntry& entry = control_->cases[control_->case_count++];
    entry.point = point_number(point);
    entry.hit = hit;
    entry.is_persistent = is_persistent ? 1 : 0;
    put(entry.action, action);
  }

  /// Between fork and the case, and after it: as the supervisor.
  std::function<void(std::uint32_t)> before_case = [](std::uint32_t) {};
  std::function<void(std::uint32_t)> after_case = [](std::uint32_t) {};
  std::map<std::string, std::string> variables;

  /// Runs it to its end; gives its status, 128 + n for signal n.
  int run() {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      start();
    }
    while (true) {
      int status = 0;
      const pid_t ended = waitpid(child, &status, WNOHANG);
      if (ended == child) {
        return status_of(status);
      }
      answer();
    }
  }

  std::vector<AgentCase> cases;

  std::string text(std::uint32_t number) const {
    return number == program::kNoText ? "" : control_->text.data() + number;
  }

  std::uint64_t hits(const std::string& point) {
    for (std::uint32_t i = 0; i < control_->point_count.load(); ++i) {
      if (point == control_->points[i].name.bytes.data()) {
        return control_->points[i].hits.load();
      }
    }
    return 0;
  }

  /// Points with hits, as "name hits".
  std::vector<std::string> points() const {
    std::vector<std::string> found;
    for (std::uint32_t i = 0; i < control_->point_count.load(); ++i) {
      const program::PointEntry& point = control_->points[i];
      if (point.hits.load() != 0) {
        found.push_back(std::string(point.name.bytes.data()) + " " +
                        std::to_string(point.hits.load()));
      }
    }
    return found;
  }

  /// What was done to a file of the working folder.
  std::uint32_t touches(const std::string& name) const {
    for (std::uint32_t i = 0; i < control_->touch_count.load(); ++i) {
      if (text(control_->touches[i].path) == work() + "/" + name) {
        return control_->touches[i].touches.load();
      }
    }
    return 0;
  }

  std::string content(const std::string& name) const {
    std::ifstream in(work() + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string output() const {
    std::ifstream in(folder_.path() + "/sweep/stdout");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string errors() const {
    std::ifstream in(folder_.path() + "/sweep/stderr");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  static int status_of(int wait_status) {
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status)
                                  : 128 + WTERMSIG(wait_status);
  }

 private:
  std::uint32_t point_number(const std::string& name) {
    const std::uint32_t count = control_->point_count.load();
    for (std::uint32_t i = 0; i < count; ++i) {
      if (name == control_->points[i].name.bytes.data()) {
        return i;
      }
    }
    put(control_->points[count].name, name);
    control_->point_count.store(count + 1);
    return count;
  }

  void redirect(int descriptor, const char* name) const {
    const int file = open((folder_.path() + "/sweep/" + name).c_str(),
                          O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    dup2(file, descriptor);
    close(file);
  }

  [[noreturn]] void start() const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    redirect(STDOUT_FILENO, "stdout");
    redirect(STDERR_FILENO, "stderr");
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    close(null);
    setenv("LD_PRELOAD", MISHAP_PRELOAD_LIBRARY, 1);
    setenv(program::kControlVariable, control_path().c_str(), 1);
    setenv(program::kTargetVariable, std::to_string(getpid()).c_str(), 1);
    for (const auto& [name, value] : variables) {
      setenv(name.c_str(), value.c_str(), 1);
    }
    if (chdir(work().c_str()) != 0) {
      _exit(126);
    }
    std::vector<char*> arguments;
    for (const std::string& word : words_) {
      arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    execvp(arguments.front(), arguments.data());
    _exit(127);
  }

  void answer() {
    std::atomic<std::uint32_t>& turn = control_->turn;
    const std::uint32_t now = turn.load();
    switch (static_cast<program::Turn>(now)) {
      case program::Turn::kAtCase:
        before_case(control_->current.load());
        if (control_->obstacles.load() != 0) {
          AgentCase skipped;
          skipped.number = control_->current.load();
          skipped.obstacles = control_->obstacles.load();
          cases.push_back(skipped);
          give(program::Turn::kSkip);
        } else {
          give(program::Turn::kFork);
        }
        return;
      case program::Turn::kChildEnded:
        cases.push_back(look());
        after_case(control_->current.load());
        give(program::Turn::kProgram);
        return;
      default:
        break;
    }
    const timespec moment{0, 2'000'000};
    syscall(SYS_futex, &turn, FUTEX_WAIT, now, &moment, nullptr, 0);
  }

  void give(program::Turn turn) {
    control_->turn.store(static_cast<std::uint32_t>(turn));
    syscall(SYS_futex, &control_->turn, FUTEX_WAKE, INT_MAX, nullptr, nullptr,
            0);
  }

 public:
  /// The report as it is now.
  AgentCase look() const {
    const program::CaseReport& report = control_->report;
    AgentCase out;
    out.number = control_->current.load();
    out.has_fired = report.has_fired.load() != 0;
    out.status = status_of(report.wait_status.load());
    out.catch_kind = static_cast<program::CatchKind>(report.catch_kind.load());
    out.catch_python = text(report.catch_python);
    out.catch_frames.assign(
        report.catch_frames.begin(),
        report.catch_frames.begin() + report.catch_frame_count);
    out.hit_frames.assign(report.hit_frames.begin(),
                          report.hit_frames.begin() + report.hit_frame_count);
    out.hit_python = text(report.hit_python);
    if (report.has_thrown.load() != 0) {
      out.thrown_type = report.thrown_type.bytes.data();
      out.thrown_text = report.thrown_text.bytes.data();
    }
    out.path = text(report.path);
    std::ifstream in(control_->case_stderr.bytes.data());
    out.standard_error = {std::istreambuf_iterator<char>(in), {}};
    return out;
  }

 private:
  TempFolder folder_;
  std::vector<std::string> words_;
  program::Control* control_ = nullptr;
};

}  // namespace mishap::testing
