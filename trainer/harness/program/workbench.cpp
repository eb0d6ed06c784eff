#include <mishap/collector/crash/text_tail.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/program/journal.h>
#include <mishap/trainer/harness/program/private_view.h>
#include <mishap/trainer/harness/program/stop_signal.h>
#include <mishap/trainer/harness/program/workbench.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace mishap::program {
namespace {

namespace fs = std::filesystem;

constexpr auto kTurn = std::chrono::milliseconds(100);
constexpr const char* kScratchPrefix = ".scratch-";

// What sweeps left that were killed together with their keepers.
void put_back_stale(const std::string& out) {
  std::vector<std::string> stale;
  for (const auto& entry : fs::directory_iterator(out)) {
    if (entry.path().filename().string().starts_with(kScratchPrefix)) {
      stale.push_back(entry.path().string());
    }
  }
  for (const std::string& scratch : stale) {
    if (!put_back_from(scratch)) {
      throw InputError(
          "an earlier sweep was killed, and not all files could "
          "be put back; what it kept is in " +
          scratch + ": look at it, then remove that folder");
    }
    fs::remove_all(scratch);
  }
}

std::string scratch_in(const std::string& out) {
  put_back_stale(out);
  const std::string scratch =
      out + '/' + kScratchPrefix + std::to_string(getpid());
  fs::create_directory(scratch);
  return scratch;
}

std::string globs_joined(const std::vector<std::string>& globs) {
  std::string text;
  for (const std::string& glob : globs) {
    text += text.empty() ? glob : ':' + glob;
  }
  return text;
}

KeeperSetup setup_of(const ProgramOptions& options, const std::string& scratch,
                     const std::string& control) {
  KeeperSetup setup;
  setup.words = options.words;
  setup.check = options.check;
  setup.scratch = scratch;
  // A pool of threads could not be forked.
  for (const char* const name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS"}) {
    if (std::getenv(name) == nullptr) {
      setup.environment.emplace_back(name, "1");
    }
  }
  setup.agent_environment = options.preload;
  setup.agent_environment.emplace_back(kControlVariable, control);
  setup.agent_environment.emplace_back("MISHAP_RECORDS", scratch + "/records");
  if (!options.follow.empty()) {
    setup.agent_environment.emplace_back(kFollowVariable,
                                         globs_joined(options.follow));
  }
  setup.id_variable = kTargetVariable;
  return setup;
}

}  // namespace

std::string text_of(const RunEnd& end) {
  if (end.was_hung) {
    return "did not end";
  }
  if (WIFSIGNALED(end.wait_status)) {
    const char* const name = sigabbrev_np(WTERMSIG(end.wait_status));
    return std::string("was ended by ") +
           (name != nullptr
                ? "SIG" + std::string(name)
                : "signal " + std::to_string(WTERMSIG(end.wait_status)));
  }
  return "exited with status " + std::to_string(WEXITSTATUS(end.wait_status));
}

std::string tail_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  collector::TextTail tail;
  std::array<char, 1 << 14> block;
  do {
    file.read(block.data(), block.size());
    tail.add({block.data(), static_cast<std::size_t>(file.gcount())});
  } while (file);
  return tail.text();
}

Workbench::Workbench(const ProgramOptions& options, const std::string& out)
    : Workbench(options, out, scratch_in(out)) {}

Workbench::Workbench(const ProgramOptions& options, const std::string& out,
                     std::string scratch)
    : options_(options),
      current_folder_(fs::current_path().string()),
      scratch_(std::move(scratch)) {
  fs::create_directory(scratch_ + "/kept");
  control_ = std::make_unique<ControlFile>(scratch_ + "/control");
  keeper_ =
      std::make_unique<Keeper>(setup_of(options_, scratch_, control_->path()));
  files_ = std::make_unique<KeptFiles>(scratch_ + "/kept",
                                       std::vector<std::string>{out});
}

Workbench::~Workbench() {
  files_.reset();
  keeper_.reset();
  control_.reset();
  remove_tree(scratch_);
}

RunOrder Workbench::order(Mode mode) const {
  RunOrder order;
  order.mode = mode;
  order.patterns = options_.point_globs;
  order.files = options_.files;
  order.case_stderr = scratch("case-stderr");
  order.torch_part = torch_part;
  return order;
}

RunEnd Workbench::run(Role role,
                      std::optional<std::chrono::milliseconds> limit) {
  using Clock = std::chrono::steady_clock;
  // The program that stands at a case goes on writing to its own.
  const std::string errors =
      scratch(standing == 0 ? "stderr" : "stderr-of-others");
  const auto begin = Clock::now();
  const pid_t process = keeper_->start(role, errors);
  RunEnd end;
  for (;;) {
    if (const auto ended = keeper_->wait(process, kTurn)) {
      end.wait_status = *ended;
      break;
    }
    if (StopSignal::came() != 0) {
      throw Stopped();
    }
    if (limit && Clock::now() - begin > *limit) {
      keeper_->end_all(standing);
      while (!keeper_->wait(process, kTurn)) {
      }
      end.was_hung = true;
      break;
    }
  }
  end.time = Clock::now() - begin;
  end.errors = tail_of(errors);
  return end;
}

}  // namespace mishap::program
