#include <mishap/trainer/harness/contract/checkers.h>

#include <algorithm>

namespace mishap {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

std::string_view step_of(Hook hook) {
  switch (hook) {
    case Hook::kOnException:
      return "tell";
    case Hook::kTeardown:
      return "teardown";
    case Hook::kFinalize:
      return "finalize";
    default:
      return {};
  }
}

// A piece that was late for so long was told of while it ran.
constexpr milliseconds kSurelyTold{500};

bool is_timed_out(const CleanupSeen& piece) {
  return piece.outcome == "timed_out";
}

std::string name_of(std::string_view step, std::string_view component) {
  return std::string(step) + " of " + std::string(component);
}

class Bounded final : public Checker {
 public:
  explicit Bounded(milliseconds limit) : limit_(limit) {}

  Clause clause() const noexcept override { return Clause::kC13; }

  bool applies(const Observation& seen) const override {
    return limit_.count() > 0 && !seen.records.empty();
  }

  void before() override { start_ = std::chrono::steady_clock::now(); }
  void after() override { took_ = std::chrono::steady_clock::now() - start_; }

  std::optional<std::string> judge(const Observation& seen) override {
    for (const RecordSeen& record : seen.records) {
      for (const CleanupSeen& piece : record.cleanup) {
        if (is_timed_out(piece) &&
            (took_ <= limit_ || microseconds(piece.micros) < limit_)) {
          return name_of(piece.step, piece.component) +
                 " is recorded as timed out and was not late";
        }
        if (is_timed_out(piece) && record.threads == 0 &&
            microseconds(piece.micros) > limit_ + kSurelyTold) {
          return name_of(piece.step, piece.component) +
                 " was late and the record shows no thread's stack";
        }
        if (!is_timed_out(piece) && microseconds(piece.micros) > limit_) {
          return name_of(piece.step, piece.component) +
                 " was late and is recorded as " + piece.outcome;
        }
      }
    }
    for (const JournalEntry& entry : seen.journal) {
      const std::string_view step = step_of(entry.hook);
      if (entry.took > limit_ && !step.empty() &&
          !is_recorded(seen, step, entry.component.name())) {
        return name_of(step, entry.component.name()) +
               " was late and no record says so";
      }
    }
    return std::nullopt;
  }

 private:
  // A release is told to the component as a teardown.
  static bool is_recorded(const Observation& seen, std::string_view step,
                          std::string_view component) {
    return std::any_of(
        seen.records.begin(), seen.records.end(), [&](const auto& record) {
          return std::any_of(
              record.cleanup.begin(), record.cleanup.end(),
              [&](const CleanupSeen& piece) {
                return is_timed_out(piece) && piece.component == component &&
                       (piece.step == step ||
                        (step == "teardown" && piece.step == "release"));
              });
        });
  }

  milliseconds limit_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::duration took_{0};
};

}  // namespace

std::unique_ptr<Checker> check_bounded(milliseconds limit) {
  return std::make_unique<Bounded>(limit);
}

}  // namespace mishap
