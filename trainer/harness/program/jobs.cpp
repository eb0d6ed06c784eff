#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/program/case_message.h>
#include <mishap/trainer/harness/program/job_process.h>
#include <mishap/trainer/harness/program/jobs.h>
#include <mishap/trainer/harness/program/stop_signal.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <system_error>
#include <utility>

namespace mishap::program {
namespace {

constexpr int kTurnMillis = 100;
constexpr std::size_t kNamed = 5;

struct RunningJob {
  pid_t process = 0;
  int socket = -1;
  std::string came;
  bool is_ready = false;
  bool has_ended = false;
};

std::set<std::string> folders_of(Workbench& bench) {
  std::set<std::string> folders = bench.files().folders();
  folders.insert(bench.current_folder());
  return folders;
}

class Jobs {
 public:
  Jobs(Workbench& bench, const CleanRun& clean, const CasePlan& plan,
       const TellResult& tell)
      : bench_(bench),
        clean_(clean),
        plan_(plan),
        tell_(tell),
        shared_(bench.modules().all().size()),
        view_(folders_of(bench), bench.options().sweep.out.string()),
        claims_(plan.cases.size()) {}

  ~Jobs() {
    for (RunningJob& job : jobs_) {
      if (job.process > 0) {
        kill(job.process, SIGKILL);
      }
      reap(job);
    }
    wait_for_jobs(bench_.scratch_folder());
  }
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  JobsEnd run() {
    const std::size_t count =
        std::min(bench_.options().jobs, plan_.cases.size());
    for (std::size_t i = 0; i < count; ++i) {
      start(i + 1);
    }
    try {
      while (std::ranges::any_of(
          jobs_, [](const RunningJob& job) { return job.socket >= 0; })) {
        serve();
      }
    } catch (const Stopped&) {
      tell_rest();
      throw;
    }
    tell_rest();
    tell_missing();
    return std::move(end_);
  }

 private:
  void start(std::size_t number) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw std::system_error(errno, std::generic_category(), "no socket");
    }
    const JobPlace place(bench_.scratch_folder(), number);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      for (const RunningJob& other : jobs_) {
        close(other.socket);
      }
      be_job({bench_, clean_, plan_, view_, claims_,
              static_cast<std::uint32_t>(number)},
             place, ends[1], parent);
    }
    close(ends[1]);
    jobs_.push_back({child, ends[0], {}, false, false});
    if (child < 0) {
      throw std::system_error(errno, std::generic_category(), "no process");
    }
  }

  void serve() {
    // Also notices that the keeper is gone.
    bench_.keeper().wait(0, std::chrono::milliseconds(0));
    if (StopSignal::came() != 0) {
      throw Stopped();
    }
    std::vector<pollfd> waiting;
    for (const RunningJob& job : jobs_) {
      waiting.push_back({job.socket, POLLIN, 0});
    }
    if (poll(waiting.data(), waiting.size(), kTurnMillis) <= 0) {
      return;
    }
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (waiting[i].revents != 0) {
        receive(jobs_[i], i + 1);
      }
    }
  }

  void receive(RunningJob& job, std::size_t number) {
    std::array<char, 1 << 16> block;
    const ssize_t got = recv(job.socket, block.data(), block.size(), 0);
    if (got < 0 && errno == EINTR) {
      return;
    }
    if (got <= 0) {
      finish(job, number);
      return;
    }
    job.came.append(block.data(), static_cast<std::size_t>(got));
    while (auto message = take_message(job.came, bench_.modules(), shared_)) {
      take(job, std::move(*message));
    }
  }

  void take(RunningJob& job, JobMessage message) {
    switch (message.kind) {
      case JobMessage::Kind::kReady:
        job.is_ready = true;
        begin();
        break;
      case JobMessage::Kind::kFailed:
        if (!has_begun_) {
          throw InputError(message.text);
        }
        job_problem_ = ": " + message.text;
        break;
      case JobMessage::Kind::kResult:
        message.result.failing = plan_.cases[message.index].failing;
        if (message.index >= next_) {
          results_.insert_or_assign(message.index, std::move(message.result));
          tell_next();
        }
        break;
      case JobMessage::Kind::kEnd:
        job.has_ended = true;
        end_.again += message.again;
        end_.left_states_out |= message.left_states_out;
        if (message.again > 0 && end_.reason.empty()) {
          end_.reason = message.text;
        }
        break;
    }
  }

  // No case before all have their files.
  void begin() {
    const bool all = std::ranges::all_of(jobs_, [](const RunningJob& job) {
      return job.is_ready || job.socket < 0;
    });
    if (!all || has_begun_) {
      return;
    }
    has_begun_ = true;
    for (const RunningJob& job : jobs_) {
      if (job.socket >= 0) {
        send(job.socket, "g", 1, MSG_NOSIGNAL);
      }
    }
  }

  void finish(RunningJob& job, std::size_t number) {
    RunEnd end;
    end.wait_status = reap(job);
    if (!job.has_ended) {
      end_.lost.push_back("job " + std::to_string(number) + ' ' + text_of(end) +
                          " before its end" + std::exchange(job_problem_, {}));
    }
    begin();
  }

  static int reap(RunningJob& job) {
    int status = 0;
    if (job.socket >= 0) {
      close(job.socket);
      job.socket = -1;
    }
    while (job.process > 0 && waitpid(job.process, &status, 0) < 0 &&
           errno == EINTR) {
    }
    job.process = 0;
    return status;
  }

  void tell_next() {
    for (auto first = results_.begin();
         first != results_.end() && first->first == next_;
         first = results_.begin()) {
      tell_(plan_.cases[next_++], std::move(first->second));
      results_.erase(first);
    }
  }

  void tell_rest() {
    while (!results_.empty()) {
      for (; next_ < results_.begin()->first; ++next_) {
        missing_.push_back(next_);
      }
      tell_next();
    }
    for (; next_ < plan_.cases.size(); ++next_) {
      missing_.push_back(next_);
    }
  }

  void tell_missing() {
    if (missing_.empty()) {
      return;
    }
    std::string text = std::to_string(missing_.size()) +
                       (missing_.size() == 1 ? " case has" : " cases have") +
                       " no verdict:";
    for (std::size_t i = 0; i < std::min(missing_.size(), kNamed); ++i) {
      text += ' ' + plan_.cases[missing_[i]].failing.id;
    }
    end_.lost.push_back(text + (missing_.size() > kNamed ? " ..." : ""));
  }

  Workbench& bench_;
  const CleanRun& clean_;
  const CasePlan& plan_;
  const TellResult& tell_;
  const std::size_t shared_;
  const PrivateView view_;
  CaseClaims claims_;
  std::vector<RunningJob> jobs_;
  std::map<std::size_t, CaseResult> results_;
  std::vector<std::size_t> missing_;
  std::size_t next_ = 0;
  bool has_begun_ = false;
  std::string job_problem_;
  JobsEnd end_;
};

}  // namespace

void check_jobs(const ProgramOptions& options) {
  if (options.jobs < 2) {
    return;
  }
  if (const auto why = PrivateView::why_not(options.sweep.out.string())) {
    throw InputError(*why);
  }
}

JobsEnd run_jobs(Workbench& bench, const CleanRun& clean, const CasePlan& plan,
                 const TellResult& tell) {
  return Jobs(bench, clean, plan, tell).run();
}

}  // namespace mishap::program
