#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/program/case_message.h>
#include <mishap/trainer/harness/program/descendants.h>
#include <mishap/trainer/harness/program/job_process.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

namespace mishap::program {
namespace {

class Job {
 public:
  Job(const JobSetup& setup, const JobPlace& place, int socket)
      : setup_(setup),
        place_(place),
        socket_(socket),
        shared_(setup.parent.modules().all().size()),
        clean_(setup.clean) {}

  void run() {
    setup_.view.enter(place_.view());
    const ProgramOptions& options = setup_.parent.options();
    Workbench bench(options, options.sweep.out.string(), place_.bench());
    bench.modules() = setup_.parent.modules();
    bench.torch_part = setup_.parent.torch_part;
    KeptFiles& files = bench.files();
    files.set_behind([this](const std::string& path) {
      return setup_.view.behind(place_.view(), path);
    });
    for (const std::string& folder : setup_.parent.files().folders()) {
      files.watch_folder(folder);
    }
    for (const std::string& file : setup_.parent.files().files()) {
      files.watch_file(file);
    }
    clean_.files.initial = files.take();
    try_it(bench);
    send(JobMessage{}, bench);
    char go = 0;
    if (recv(socket_, &go, 1, 0) == 1) {
      try_all(bench);
    }
  }

  void send(const JobMessage& message, Workbench& bench) const {
    const std::string bytes = packed(message, bench.modules(), shared_);
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t sent = ::send(socket_, bytes.data() + done,
                                  bytes.size() - done, MSG_NOSIGNAL);
      if (sent < 0 && errno != EINTR) {
        throw std::system_error(errno, std::generic_category(), "send");
      }
      done += sent > 0 ? static_cast<std::size_t>(sent) : 0;
    }
  }

 private:
  // What a case would be blamed for may be due to the copies.
  void try_it(Workbench& bench) {
    bench.control().begin(bench.order(Mode::kCount));
    const RunEnd end = bench.run(Role::kProgram, std::nullopt);
    bench.keeper().end_all();
    KeptState initial = clean_.files.initial;
    put_files_back(bench, clean_, initial);
    if (!end.is_success()) {
      throw InputError(
          "in copies of its folders, with nothing failing, " +
          bench.options().words.front() + ' ' + text_of(end) +
          ", and --jobs gives each job such copies; use --jobs 1" +
          (end.errors.empty() ? "" : ". It wrote:\n" + end.errors));
    }
  }

  void try_all(Workbench& bench) {
    CaseJudge judge(bench, clean_);
    const auto claim = [this](const PlannedCase& planned) {
      return setup_.claims.take(planned.index, setup_.number);
    };
    const auto tell = [&](const PlannedCase& planned, CaseResult result) {
      JobMessage message;
      message.kind = JobMessage::Kind::kResult;
      message.index = planned.index;
      message.result = std::move(result);
      send(message, bench);
    };
    JobMessage last;
    last.kind = JobMessage::Kind::kEnd;
    std::vector<PlannedCase> left = setup_.plan.cases;
    if (bench.options().forks()) {
      ForkedRun forked = run_forked(bench, clean_, judge, left, claim, tell);
      left = std::move(forked.left);
      last.text = forked.reason;
    }
    for (const PlannedCase& planned : left) {
      if (claim(planned)) {
        tell(planned, run_single(bench, clean_, judge, planned));
        ++last.again;
      }
    }
    last.left_states_out = judge.has_left_states_out();
    send(last, bench);
  }

  const JobSetup& setup_;
  const JobPlace& place_;
  int socket_;
  std::size_t shared_;
  CleanRun clean_;
};

}  // namespace

CaseClaims::CaseClaims(std::size_t cases)
    : bytes_(cases * sizeof(std::atomic<std::uint32_t>)) {
  void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "mmap");
  }
  claims_ = static_cast<std::atomic<std::uint32_t>*>(memory);
}

CaseClaims::~CaseClaims() { munmap(claims_, bytes_); }

bool CaseClaims::take(std::size_t index, std::uint32_t job) {
  std::uint32_t nobody = 0;
  return claims_[index].compare_exchange_strong(nobody, job) || nobody == job;
}

void be_job(const JobSetup& setup, const JobPlace& place, int socket,
            pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(1);
  }
  // Ctrl-C is for the sweep, which ends its jobs.
  setpgid(0, 0);
  prctl(PR_SET_NAME, "mishap-job");
  setup.parent.keeper().leave_to_parent();
  Job job(setup, place, socket);
  JobMessage problem;
  problem.kind = JobMessage::Kind::kFailed;
  try {
    job.run();
    _exit(0);
  } catch (const KeeperLost&) {
    kill_descendants(getpid());
    _exit(1);
  } catch (const Stopped&) {
    _exit(1);
  } catch (const std::exception& error) {
    problem.text = error.what();
  }
  try {
    job.send(problem, setup.parent);
  } catch (const std::exception&) {
  }
  _exit(1);
}

}  // namespace mishap::program
