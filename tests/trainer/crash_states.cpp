// Every state that a crash or a loss of power may leave of a save, each written
// out as files and read by read_checkpoint(); and a kill before every call of
// the system. What has to be found is the old checkpoint or the new one. Naive
// saves go through the same judge and have to fail.
#include <mishap/trainer/engine/checkpoint.h>
#include <mishap/trainer/guard/replace_file.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crash_model.h"
#include "memory_folder.h"
#include "recording_store.h"

namespace mishap::checkpoint_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "last.ckpt";
// What a link of that name leads to.
constexpr const char* kTarget = "store/real.ckpt";
constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();

using Save = void (*)(const std::string& path, std::string_view bytes,
                      RecordingStore& store);

struct Scenario {
  const char* name;
  bool has_old;
  bool is_link;
  /// Bytes that a write takes.
  std::size_t chunk;
  Save save;

  std::string target() const { return is_link ? kTarget : kName; }
};

void save_well(const std::string& path, std::string_view bytes,
               RecordingStore& store) {
  replace_file(path, bytes, store);
}

void save_in_place(const std::string& path, std::string_view bytes,
                   RecordingStore& store) {
  const int file = store.open_truncated(path.c_str());
  store.write(file, bytes.data(), bytes.size());
  store.close(file);
}

void save_beside(const std::string& path, std::string_view bytes, bool syncs,
                 RecordingStore& store) {
  const std::string beside = path + ".tmp";
  const int file = store.create(beside.c_str());
  store.write(file, bytes.data(), bytes.size());
  if (syncs) {
    store.fsync(file);
  }
  store.close(file);
  store.rename(beside.c_str(), path.c_str());
}

void save_beside_unsynced(const std::string& path, std::string_view bytes,
                          RecordingStore& store) {
  save_beside(path, bytes, /*syncs=*/false, store);
}

void save_beside_folder_unsynced(const std::string& path,
                                 std::string_view bytes,
                                 RecordingStore& store) {
  save_beside(path, bytes, /*syncs=*/true, store);
}

constexpr Scenario kSaves[] = {
    {"replace", true, false, kWhole, save_well},
    {"replace, short writes", true, false, 9000, save_well},
    {"first", false, false, kWhole, save_well},
    {"first, short writes", false, false, 9000, save_well},
    {"replace through a link", true, true, kWhole, save_well},
};
constexpr Scenario kInPlace = {"naive: truncate and write", true, false, kWhole,
                               save_in_place};
constexpr Scenario kUnsynced = {"naive: rename, no fsync", true, false, kWhole,
                                save_beside_unsynced};
constexpr Scenario kFolderUnsynced = {"naive: rename, folder not synced", true,
                                      false, kWhole,
                                      save_beside_folder_unsynced};

enum class Found { kAbsent, kOld, kNew, kBad };

State some_state(std::int64_t step, std::int64_t numbers) {
  torch::manual_seed(static_cast<std::uint64_t>(step));
  State module;
  module.set("weight", torch::Tensor(torch::rand({numbers})));
  State state;
  state.set("step", step);
  state.set("module", module);
  return state;
}

bool is_same(const State& one, const State& other) {
  return one.names() == other.names() &&
         one.integer("step") == other.integer("step") &&
         one.inner("module").tensor("weight").equal(
             other.inner("module").tensor("weight"));
}

class Judge {
 public:
  explicit Judge(fs::path folder) : folder_(std::move(folder)) {}

  std::string path() const { return folder_ / kName; }
  const std::string& new_bytes() const noexcept { return new_bytes_; }

  Files before(const Scenario& scenario) const {
    return scenario.has_old ? Files{{scenario.target(), old_bytes_}} : Files{};
  }

  void lay_out(const Scenario& scenario, const Files& files) const {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      fs::remove_all(entry.path());
    }
    if (scenario.is_link) {
      fs::create_directory(folder_ / "store");
      fs::create_symlink(kTarget, path());
    }
    for (const auto& [name, content] : files) {
      std::ofstream(folder_ / name, std::ios::binary) << content;
    }
  }

  Found found() const {
    try {
      const State state = read_checkpoint(path());
      return is_same(state, old_)   ? Found::kOld
             : is_same(state, new_) ? Found::kNew
                                    : Found::kBad;
    } catch (const FileError& error) {
      return error.code().value() == ENOENT ? Found::kAbsent : Found::kBad;
    } catch (const CheckpointError&) {
      return Found::kBad;
    }
  }

  // The next save has to work there, and to clear up.
  bool can_save_again(const Scenario& scenario) const {
    replace_file(path(), new_bytes_);
    std::size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      files += entry.is_directory() ? 0 : 1;
    }
    return found() == Found::kNew && files == (scenario.is_link ? 2U : 1U);
  }

 private:
  fs::path folder_;
  // Of different sizes, so that a mixture of both shows.
  State old_ = some_state(1, 6000);
  State new_ = some_state(2, 5000);
  std::string old_bytes_ = to_checkpoint(old_);
  std::string new_bytes_ = to_checkpoint(new_);
};

bool is_right(Found found, const Scenario& scenario, bool has_returned) {
  const Found before = scenario.has_old ? Found::kOld : Found::kAbsent;
  return found == Found::kNew || (found == before && !has_returned);
}

std::vector<Operation> trace_of(const Scenario& scenario, const Judge& judge,
                                const fs::path& folder) {
  judge.lay_out(scenario, judge.before(scenario));
  RecordingStore store(folder, scenario.chunk);
  scenario.save(judge.path(), judge.new_bytes(), store);
  return store.trace();
}

struct Tally {
  std::size_t states = 0;
  std::size_t bad = 0;
};

Tally judge_states(const Scenario& scenario, const Judge& judge,
                   const fs::path& folder) {
  const std::vector<Operation> trace = trace_of(scenario, judge, folder);
  std::map<Files, std::pair<Found, bool>> known;
  std::set<Files> bad;
  std::set<Found> seen;
  for (std::size_t done = 0; done <= trace.size(); ++done) {
    for (const Files& files :
         states_after_crash(judge.before(scenario), trace, done)) {
      auto place = known.find(files);
      if (place == known.end()) {
        judge.lay_out(scenario, files);
        const Found found = judge.found();
        const bool goes_on =
            scenario.save != save_well || judge.can_save_again(scenario);
        place = known.emplace(files, std::pair(found, goes_on)).first;
      }
      const auto [found, goes_on] = place->second;
      seen.insert(found);
      if (!goes_on || !is_right(found, scenario, done == trace.size())) {
        bad.insert(files);
      }
    }
  }
  // One that never saw the old file and the new one judged nothing.
  const bool is_complete =
      seen.contains(Found::kNew) &&
      seen.contains(scenario.has_old ? Found::kOld : Found::kAbsent);
  std::printf("%-34s %2zu operations %5zu states %5zu bad%s\n", scenario.name,
              trace.size(), known.size(), bad.size(),
              is_complete ? "" : " INCOMPLETE");
  return {known.size(), bad.size() + (is_complete ? 0 : 1)};
}

// Passes calls on up to one, of which a write still gets `part` bytes through.
class KillingStore final : public FileStore {
 public:
  KillingStore(std::size_t last, std::size_t part, std::size_t chunk)
      : last_(last), part_(part), chunk_(chunk) {}

  std::size_t calls() const noexcept { return calls_; }
  const std::vector<std::size_t>& writes() const noexcept { return writes_; }

  int create(const char* path) override {
    return next(), system().create(path);
  }
  int open_folder(const char* path) override {
    return next(), system().open_folder(path);
  }
  int open(const char* path) override { return next(), system().open(path); }
  ssize_t read(int file, void* data, std::size_t size) override {
    return next(), system().read(file, data, size);
  }
  ssize_t write(int file, const void* data, std::size_t size) override {
    if (calls_ == last_ && part_ > 0) {
      system().write(file, data, std::min(size, part_));
    }
    writes_.push_back(calls_);
    return next(), system().write(file, data, std::min(size, chunk_));
  }
  int fsync(int file) override { return next(), system().fsync(file); }
  int close(int file) override { return next(), system().close(file); }
  int link(const char* from, const char* to) override {
    return next(), system().link(from, to);
  }
  int rename(const char* from, const char* to) override {
    return next(), system().rename(from, to);
  }
  int unlink(const char* path) override {
    return next(), system().unlink(path);
  }

 private:
  void next() {
    if (calls_++ == last_) {
      raise(SIGKILL);
    }
  }

  std::size_t last_;
  std::size_t part_;
  std::size_t chunk_;
  std::size_t calls_ = 0;
  std::vector<std::size_t> writes_;
};

bool survives_kill(const Scenario& scenario, const Judge& judge,
                   std::size_t call, std::size_t part) {
  judge.lay_out(scenario, judge.before(scenario));
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    KillingStore store(call, part, scenario.chunk);
    replace_file(judge.path(), judge.new_bytes(), store);
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    std::perror("crash_states: no child");
    return false;
  }
  const bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  return is_killed && is_right(judge.found(), scenario, false) &&
         judge.can_save_again(scenario);
}

Tally judge_kills(const Scenario& scenario, const Judge& judge) {
  judge.lay_out(scenario, judge.before(scenario));
  KillingStore counting(kWhole, 0, scenario.chunk);
  replace_file(judge.path(), judge.new_bytes(), counting);
  std::vector<std::pair<std::size_t, std::size_t>> kills;
  for (std::size_t call = 0; call < counting.calls(); ++call) {
    kills.emplace_back(call, 0);
  }
  for (const std::size_t call : counting.writes()) {
    for (const std::size_t part : {1, 512, 4096, 5000}) {
      kills.emplace_back(call, part);
    }
  }
  std::size_t bad = 0;
  for (const auto& [call, part] : kills) {
    if (!survives_kill(scenario, judge, call, part)) {
      std::printf("%s: BAD after a kill at call %zu, %zu bytes\n",
                  scenario.name, call, part);
      ++bad;
    }
  }
  std::printf("%-34s %2zu calls      %5zu kills  %5zu bad\n", scenario.name,
              counting.calls(), kills.size(), bad);
  return {kills.size(), bad};
}

std::string verdict(const Tally& tally) {
  return tally.bad == 0 ? "all old or new" : std::to_string(tally.bad) + " BAD";
}

int run_all() {
  const testing::TempFolder temporary = testing::memory_folder();
  const fs::path folder = fs::canonical(temporary.path());
  const Judge judge(folder);
  Tally states;
  Tally kills;
  for (const Scenario& scenario : kSaves) {
    const Tally of_states = judge_states(scenario, judge, folder);
    const Tally of_kills = judge_kills(scenario, judge);
    states = {states.states + of_states.states, states.bad + of_states.bad};
    kills = {kills.states + of_kills.states, kills.bad + of_kills.bad};
  }
  const Tally in_place = judge_states(kInPlace, judge, folder);
  const Tally unsynced = judge_states(kUnsynced, judge, folder);
  const Tally folder_unsynced = judge_states(kFolderUnsynced, judge, folder);
  std::printf(
      "crash_states %zu states, %s; %zu kills, %s; naive saves caught: %zu and "
      "%zu states bad\n",
      states.states, verdict(states).c_str(), kills.states,
      verdict(kills).c_str(), in_place.bad, unsynced.bad);
  const bool are_caught =
      in_place.bad > 0 && unsynced.bad > 0 && folder_unsynced.bad > 0;
  return states.bad == 0 && kills.bad == 0 && are_caught ? 0 : 1;
}

}  // namespace
}  // namespace mishap::checkpoint_test

int main() { return mishap::checkpoint_test::run_all(); }
