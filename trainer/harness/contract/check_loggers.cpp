#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/contract/checkers.h>

namespace mishap {
namespace {

bool is_interrupted(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Interrupted&) {
    return true;
  } catch (...) {
    return false;
  }
}

// The error of the run: what its components were told, else what the caller
// caught. Null when the run was a success for all to see.
std::exception_ptr error_of(const Observation& seen) {
  for (const JournalEntry& entry : seen.journal) {
    if (entry.hook == Hook::kOnException) {
      return entry.error;
    }
  }
  return seen.caught;
}

class Loggers final : public Checker {
 public:
  Clause clause() const noexcept override { return Clause::kC6; }

  std::optional<std::string> judge(const Observation& seen) override {
    for (const Component logger : seen.loggers) {
      bool begun = false;
      bool failed = false;
      int finalized = 0;
      for (const JournalEntry& entry : seen.journal) {
        failed |= entry.hook == Hook::kOnException;
        if (entry.component != logger) {
          continue;
        }
        begun |= entry.hook == Hook::kExperiment;
        if (entry.hook != Hook::kFinalize) {
          continue;
        }
        ++finalized;
        if (entry.word == FinalWord::kSuccess && !seen.anybody_told()) {
          // Whether the error had come by then nobody can say: that is C3's.
          continue;
        }
        const FinalWord due = right_word(seen, failed);
        if (entry.word != due) {
          return std::string(logger.name()) + " was finalised with '" +
                 std::string(to_string(entry.word)) + "', '" +
                 std::string(to_string(due)) + "' is right";
        }
      }
      const int due = begun ? 1 : 0;
      if (finalized != due) {
        return std::string(logger.name()) + " was finalised " +
               std::to_string(finalized) + " times";
      }
    }
    return std::nullopt;
  }

 private:
  static FinalWord right_word(const Observation& seen, bool told) {
    const std::exception_ptr error = error_of(seen);
    if (error == nullptr || (seen.anybody_told() && !told)) {
      // Finalised before the error came, when the run was still a success.
      return FinalWord::kSuccess;
    }
    return is_interrupted(error) ? FinalWord::kInterrupted : FinalWord::kFailed;
  }
};

}  // namespace

std::unique_ptr<Checker> check_loggers() { return std::make_unique<Loggers>(); }

}  // namespace mishap
