// Fails every call of the file system during one save of ModelCheckpoint that
// replaces an older last.ckpt and an older best file, with three errors and one
// more, once and from then on.
//
// The fourth kind is a short write where the call is a write: once it has to be
// completed; followed by writes that take nothing it is EIO. Elsewhere it is
// EROFS.
//
// The rule: a call that fails while a file is made, or put in its place, fails
// the fit with that one error, and of that file the older one is there, byte
// for byte. Only the removal of what nobody needs any more may fail unseen:
// then all files are new and complete, and the next fit removes what was left.
#include <mishap/faultinject/hit_trace.h>
#include <mishap/faultinject/scenario.h>
#include <mishap/trainer/engine/checkpoint.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "saving_training.h"

namespace mishap::checkpoint_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLast = "last.ckpt";
constexpr const char* kOldBest = "epoch=0.ckpt";
constexpr const char* kNewBest = "epoch=1.ckpt";
constexpr std::string_view kFamily = "io/checkpoint/";

// -- the calls --------------------------------------------------------------

// Which part of the save a call belongs to.
enum class Part { kBest, kDropOldBest, kLast, kDropOldLast };

struct Call {
  std::string name;
  Part part = Part::kBest;
  bool is_of_folder = false;
  /// Calls of that name in the same fit before this one.
  std::size_t before = 0;

  bool is_removal() const {
    return part == Part::kDropOldBest || part == Part::kDropOldLast;
  }
};

// Both files are written, then what they replace is removed.
Part part_after(Part previous, std::string_view call) {
  if (call == "unlink") {
    return previous == Part::kLast ? Part::kDropOldLast : Part::kDropOldBest;
  }
  return call == "create" ? Part::kLast : previous;
}

std::vector<Call> calls_of_the_save(std::string& weights) {
  Training training;
  const faultinject::HitTrace trace;
  training.before().trace = &trace;
  weights = training.fit();
  std::map<std::string, std::size_t> seen;
  std::vector<Call> calls;
  const auto hits = trace.sequence();
  for (std::size_t i = 0; i < hits.size(); ++i) {
    std::string_view point = faultinject::name_of(hits[i]);
    if (!point.starts_with(kFamily)) {
      continue;
    }
    point.remove_prefix(kFamily.size());
    Call call{std::string(point), Part::kBest, false,
              seen[std::string(point)]++};
    if (i < training.before().hits) {
      continue;
    }
    if (!calls.empty()) {
      const Call& previous = calls.back();
      call.part = part_after(previous.part, call.name);
      call.is_of_folder =
          call.name == "open_folder" || previous.name == "open_folder";
    }
    calls.push_back(std::move(call));
  }
  return calls;
}

// -- the faults -------------------------------------------------------------

struct Fault {
  const char* name;
  int number;
  bool is_persistent;

  bool is_short() const { return number == 0; }
  /// Nothing: the call may not fail.
  std::optional<int> expected() const {
    return !is_short()     ? std::optional(number)
           : is_persistent ? std::optional(EIO)
                           : std::nullopt;
  }
};

std::vector<Fault> faults_of(const Call& call) {
  std::vector<Fault> faults;
  for (const bool is_persistent : {false, true}) {
    faults.push_back({"ENOSPC", ENOSPC, is_persistent});
    faults.push_back({"EDQUOT", EDQUOT, is_persistent});
    faults.push_back({"EIO", EIO, is_persistent});
    faults.push_back(call.name == "write"
                         ? Fault{"short", 0, is_persistent}
                         : Fault{"EROFS", EROFS, is_persistent});
  }
  return faults;
}

faultinject::Plan plan_of(const Call& call, const Fault& fault) {
  std::string text = std::string(kFamily) + call.name + '=' +
                     std::to_string(call.before) + "*off->";
  if (fault.is_short()) {
    text += "1*short(1000)";
    text += fault.is_persistent ? "->short(0)" : "";
  } else {
    text += fault.is_persistent ? "errno(" : "1*errno(";
    text += std::string(fault.name) + ')';
  }
  return faultinject::Plan::parse(text);
}

// -- the judge --------------------------------------------------------------

// One case; says what is wrong with it, if anything.
class Case {
 public:
  Case(const Call& call, const Fault& fault, const std::string& weights)
      : call_(call), fault_(fault), weights_(weights) {}

  bool run() {
    fails_ = fault_.expected().has_value() && !call_.is_removal();
    {
      const auto faults = faultinject::arm(plan_of(call_, fault_));
      check(fails_ == throws(), "the fit failed or not as it should");
      check(faults.fired() > 0, "the fault did not fire");
    }
    judge_record();
    judge_files();
    judge_book();
    judge_next_fit();
    return is_right_;
  }

 private:
  void check(bool holds, const std::string& what) {
    if (!holds) {
      std::printf("%s %s %s: WRONG: %s\n", call_.name.c_str(), fault_.name,
                  fault_.is_persistent ? "persistent" : "transient",
                  what.c_str());
      is_right_ = false;
    }
  }

  std::string target() const {
    return call_.part == Part::kBest ? kNewBest : kLast;
  }

  bool throws() {
    try {
      training_.fit();
      return false;
    } catch (const FileError& error) {
      check(error.code().value() == fault_.expected(), error.what());
      const bool is_open =
          call_.name == "create" || call_.name == "open_folder";
      check(error.call() == (is_open ? "open" : call_.name), error.what());
      const std::string folder = training_.checkpoints();
      const std::string expected = call_.is_of_folder ? folder
                                   : call_.name == "link"
                                       ? folder + '/' + target()
                                       : folder + "/." + target() + ".mishap-";
      check(error.path().starts_with(expected), error.what());
      return true;
    } catch (const std::exception& error) {
      check(false, error.what());
      return true;
    }
  }

  void judge_record() {
    const std::string lines = training_.records();
    const auto count = std::count(lines.begin(), lines.end(), '\n');
    check(count == (fails_ ? 1 : 0), std::to_string(count) + " records");
    if (count != 1) {
      return;
    }
    const auto record = nlohmann::json::parse(lines);
    check(record.at("stage") == "save_checkpoint", record.at("stage").dump());
    check(record.at("suppressed").empty(), record.at("suppressed").dump());
    const auto& exceptions = record.at("exceptions");
    check(exceptions.size() == 1, exceptions.dump());
    check(exceptions.at(0).at("code") == *fault_.expected(),
          exceptions.at(0).at("code").dump());
    check(exceptions.at(0).at("type") == "mishap::FileError",
          exceptions.at(0).at("type").dump());
  }

  void judge_files() {
    Files files = files_in(training_.checkpoints());
    const Files& before = training_.before().files;
    if (fails_ && call_.part == Part::kBest) {
      check(files == before, "the files are not those from before");
      return;
    }
    if (fails_) {
      check(files[kLast] == before.at(kLast), "last.ckpt has changed");
    }
    if (call_.is_removal()) {
      // Left over: what could not be removed.
      std::erase_if(files, [&](const auto& file) {
        return file.first == kOldBest || file.first.starts_with('.');
      });
    }
    check(files.size() == 2 && files.contains(kNewBest), "stray files");
  }

  std::int64_t step_of(const fs::path& path) {
    try {
      return read_checkpoint(path).inner("progress").integer("step");
    } catch (const std::exception& error) {
      check(false, error.what());
      return -1;
    }
  }

  // What the book names is there, loads, and is what the book says.
  void judge_book() {
    const ModelCheckpoint& keeper = training_.keeper();
    const fs::path folder = training_.checkpoints();
    const std::int64_t best = fails_ && call_.part == Part::kBest ? 0 : 1;
    const std::int64_t last = fails_ ? 0 : 1;
    check(keeper.best_path() == folder / (best == 0 ? kOldBest : kNewBest),
          "best_path() is " + keeper.best_path().native());
    check(keeper.best_score() == score_of(best), "best_score()");
    check(keeper.last_path() == folder / kLast,
          "last_path() is " + keeper.last_path().native());
    check(step_of(keeper.best_path()) == 2 * (best + 1), "step of the best");
    check(step_of(keeper.last_path()) == 2 * (last + 1), "step of the last");
  }

  void judge_next_fit() {
    try {
      check(training_.fit() == weights_, "the next fit has other weights");
    } catch (const std::exception& error) {
      check(false, std::string("the next fit failed: ") + error.what());
    }
    const Files files = files_in(training_.checkpoints());
    check(
        files.size() == 2 && files.contains(kNewBest) && files.contains(kLast),
        "the next fit leaves stray files");
    fails_ = false;
    judge_book();
  }

  const Call& call_;
  const Fault& fault_;
  const std::string& weights_;
  Training training_;
  bool fails_ = false;
  bool is_right_ = true;
};

const char* to_text(Part part) {
  switch (part) {
    case Part::kBest:
      return "best file";
    case Part::kDropOldBest:
      return "removal of the old best file";
    case Part::kLast:
      return "last.ckpt";
    case Part::kDropOldLast:
      return "removal of the old last.ckpt";
  }
  return "";
}

int run_all() {
  std::string weights;
  const std::vector<Call> calls = calls_of_the_save(weights);
  std::size_t right = 0;
  std::size_t all = 0;
  for (const Call& call : calls) {
    std::size_t right_here = 0;
    const std::vector<Fault> faults = faults_of(call);
    for (const Fault& fault : faults) {
      right_here += Case(call, fault, weights).run() ? 1 : 0;
    }
    std::printf("%-12s %-30s %zu of %zu\n", call.name.c_str(),
                to_text(call.part), right_here, faults.size());
    right += right_here;
    all += faults.size();
  }
  std::printf("save_faults %zu of %zu, %zu calls x 4 x 2\n", right, all,
              calls.size());
  const bool has_replaced =
      !calls.empty() && calls.back().part == Part::kDropOldBest;
  return has_replaced && right == all && all == calls.size() * 8 ? 0 : 1;
}

}  // namespace
}  // namespace mishap::checkpoint_test

int main() { return mishap::checkpoint_test::run_all(); }
