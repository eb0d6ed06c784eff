// Kills one training at 50 places spread over it, each in a process of its own,
// and starts it again from the newest last.ckpt: its final weights have to be
// those of the training that nobody cut, bit for bit, and so have the
// checkpoints that it leaves. Then the same with three kills in a row.
//
// The moments are hits of the program's own fault points, so they are the same
// ones each time, and the training that counts them says where each is.
#include <mishap/faultinject/point.h>
#include <mishap/trainer/engine/checkpoint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "killed_training.h"
#include "memory_folder.h"

namespace mishap::checkpoint_test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKills = 50;
constexpr std::size_t kLeastAfterCheckpoint = 45;
constexpr std::size_t kLeastDuringSave = 5;

// -- the processes that train -----------------------------------------------

enum class End { kFinished, kKilled, kOther };

// A process of its own. LibTorch takes most of a second to start: what is going
// to be killed is only forked, from a parent that has trained nothing.
enum class Start { kFork, kExec };

End run(const fs::path& folder, const std::string& mode, Start start) {
  const std::string self = fs::read_symlink("/proc/self/exe");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    if (start == Start::kFork) {
      _exit(run_child(folder, mode));
    }
    execl(self.c_str(), self.c_str(), "child", folder.c_str(), mode.c_str(),
          static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    std::perror("kill_resume: no child");
    return End::kOther;
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    return End::kKilled;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? End::kFinished
                                                       : End::kOther;
}

// -- the judge --------------------------------------------------------------

struct Hit {
  std::string name;
  bool is_in_save = false;
};

// The hits that a `**` counts, which takes in no `:after`.
std::vector<Hit> hits_in(const fs::path& file) {
  std::vector<Hit> hits;
  bool is_in_save = false;
  std::ifstream in(file);
  for (std::string name; std::getline(in, name);) {
    if (name == "hook/save_checkpoint/checkpoint") {
      is_in_save = true;
    } else if (name == "hook/save_checkpoint/checkpoint:after") {
      is_in_save = false;
    }
    if (!name.ends_with(faultinject::kAfter)) {
      hits.push_back({name, is_in_save});
    }
  }
  return hits;
}

// While these wait the save has a temporary file.
bool leaves_temporary_file(const Hit& hit) {
  return hit.name == "io/checkpoint/write" ||
         hit.name == "io/checkpoint/close" ||
         hit.name == "io/checkpoint/link" || hit.name == "io/checkpoint/rename";
}

bool has_temporary_file(const fs::path& folder) {
  const fs::directory_iterator entries(folder);
  return std::any_of(begin(entries), end(entries), [](const auto& entry) {
    return entry.path().filename().native().starts_with('.');
  });
}

// All that a checkpoint holds. Its bytes would not do: how LibTorch pickles a
// value depends on where in memory it lies.
void describe(const c10::IValue& value, std::string& text) {
  if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      text += entry.key().toStringRef() + '{';
      describe(entry.value(), text);
      text += "}\n";
    }
  } else if (value.isTensor()) {
    const torch::Tensor tensor = value.toTensor().contiguous();
    text += tensor.toString() + c10::str(tensor.sizes());
    text.append(static_cast<const char*>(tensor.data_ptr()), tensor.nbytes());
  } else if (value.isDouble()) {
    // To the last bit.
    text += c10::str(std::bit_cast<std::uint64_t>(value.toDouble()));
  } else {
    text += c10::str(value);
  }
}

// The files of a folder. Of a checkpoint, what two trainings can share: not the
// time that was spent, nor the bytes of the optimizers, which LibTorch writes
// in the order of addresses. Of what can't be read, what is wrong with it.
std::map<std::string, std::string> contents_of(const fs::path& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::string& content = contents[entry.path().filename()];
    try {
      State state = read_checkpoint(entry.path());
      State progress = state.inner("progress");
      progress.set("nanos", 0);
      state.set("progress", progress);
      state.set("optimizers", State());
      describe(state.to_value(), content);
    } catch (const std::exception& error) {
      content = error.what();
    }
  }
  return contents;
}

// The step of a checkpoint; -1 without one, nothing when it can't be read.
std::optional<std::int64_t> step_of(const fs::path& path) {
  if (!fs::exists(path)) {
    return -1;
  }
  try {
    return read_checkpoint(path).inner("progress").integer("step");
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return std::nullopt;
  }
}

class KillResume {
 public:
  explicit KillResume(fs::path folder) : folder_(std::move(folder)) {}

  bool count() {
    if (run(fresh(), "bare", Start::kExec) != End::kFinished) {
      std::puts("the training without saves failed");
      return false;
    }
    const std::string without_saves = read(folder_ / "weights");
    if (run(fresh(), "count", Start::kExec) != End::kFinished) {
      std::puts("the uncut training failed");
      return false;
    }
    weights_ = read(folder_ / "weights");
    files_ = contents_of(checkpoints_in(folder_));
    hits_ = hits_in(folder_ / "hits");
    const bool is_same = without_saves == weights_;
    std::printf("uncut: %zu hits, %zu bytes of weights, %s without saves\n",
                hits_.size(), weights_.size(), is_same ? "equal" : "UNEQUAL");
    return is_same && !weights_.empty() && hits_.size() > kKills;
  }

  void kill_at_each_place() {
    std::int64_t newest = -1;
    for (std::size_t i = 0; i < kKills; ++i) {
      const std::size_t place = (2 * i + 1) * hits_.size() / (2 * kKills);
      fresh();
      const std::optional<std::int64_t> step = kill(place);
      const bool is_there = !leaves_temporary_file(hits_[place]) ||
                            has_temporary_file(checkpoints_in(folder_));
      const bool is_right = step && *step >= newest && is_there && ends_equal();
      newest = step.value_or(newest);
      equal_ += is_right ? 1 : 0;
      after_checkpoint_ += newest >= 0 ? 1 : 0;
      during_save_ += hits_[place].is_in_save ? 1 : 0;
      std::printf("%2zu hit %5zu %-44s last step %3lld %s\n", i + 1, place,
                  hits_[place].name.c_str(), static_cast<long long>(newest),
                  is_right ? "equal" : "WRONG");
    }
  }

  // Kills in the load, in the set-up and behind are among them.
  bool kill_in_a_row() {
    const std::size_t all = hits_.size();
    const std::vector<std::vector<std::size_t>> rows = {
        {all / 4, 30, all / 3},
        {all / 2, all / 4, 12},
        {all / 3, all / 3, all / 5},
        {all * 3 / 4, 45, 60}};
    bool are_right = true;
    for (const auto& places : rows) {
      fresh();
      bool is_right = true;
      for (const std::size_t place : places) {
        const std::optional<std::int64_t> step = kill(place);
        is_right = is_right && step.has_value();
        std::printf("hit %zu, last step %lld; ", place,
                    static_cast<long long>(step.value_or(-2)));
      }
      is_right = is_right && ends_equal();
      std::printf("kills in a row: %s\n", is_right ? "equal" : "WRONG");
      are_right = are_right && is_right;
    }
    return are_right;
  }

  bool report() const {
    std::printf(
        "kill_resume %zu of %zu equal, %zu after the first checkpoint, %zu "
        "during a save\n",
        equal_, kKills, after_checkpoint_, during_save_);
    return equal_ == kKills && after_checkpoint_ >= kLeastAfterCheckpoint &&
           during_save_ >= kLeastDuringSave;
  }

 private:
  // Always of the same name, which is in the checkpoints.
  const fs::path& fresh() const {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    return folder_;
  }

  // The step of the last.ckpt that is left; nothing when the training did not
  // die or left one that can't be read.
  std::optional<std::int64_t> kill(std::size_t place) const {
    if (run(folder_, std::to_string(place), Start::kFork) != End::kKilled) {
      std::printf("hit %zu did not kill\n", place);
      return std::nullopt;
    }
    return step_of(checkpoints_in(folder_) / "last.ckpt");
  }

  bool ends_equal() const {
    if (run(folder_, "uncut", Start::kExec) != End::kFinished) {
      std::puts("it did not go on");
      return false;
    }
    const auto files = contents_of(checkpoints_in(folder_));
    for (const auto& [name, content] : files) {
      const auto expected = files_.find(name);
      if (expected == files_.end()) {
        std::printf("left over: %s\n", name.c_str());
      } else if (expected->second != content) {
        std::printf("other content: %s\n", name.c_str());
      }
    }
    return read(folder_ / "weights") == weights_ && files == files_;
  }

  fs::path folder_;
  std::string weights_;
  std::map<std::string, std::string> files_;
  std::vector<Hit> hits_;
  std::size_t equal_ = 0;
  std::size_t after_checkpoint_ = 0;
  std::size_t during_save_ = 0;
};

int run_all() {
  const testing::TempFolder temporary = testing::memory_folder();
  KillResume judge(fs::path(temporary.path()) / "run");
  torch::set_num_threads(1);
  if (!judge.count()) {
    return 1;
  }
  const bool rows_are_right = judge.kill_in_a_row();
  judge.kill_at_each_place();
  return judge.report() && rows_are_right ? 0 : 1;
}

}  // namespace
}  // namespace mishap::checkpoint_test

int main(int argc, char** argv) {
  using namespace mishap::checkpoint_test;
  return argc == 4 ? run_child(argv[2], argv[3]) : run_all();
}
