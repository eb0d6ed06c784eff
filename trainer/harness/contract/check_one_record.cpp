#include <mishap/trainer/harness/contract/checkers.h>

#include <algorithm>

namespace mishap {
namespace {

class OneRecord final : public Checker {
 public:
  Clause clause() const noexcept override { return Clause::kC2; }

  std::optional<std::string> judge(const Observation& seen) override {
    const std::size_t due = seen.failed() ? 1 : 0;
    if (seen.records.size() != due) {
      return "the run left " + std::to_string(seen.records.size()) +
             " records, " + std::to_string(due) + " is right";
    }
    if (due == 0) {
      return std::nullopt;
    }
    const RecordSeen& record = seen.records.front();
    if (record.kind != "error" && record.kind != "interrupt") {
      return "the record's kind is '" + record.kind + "'";
    }
    if (record.entry_point != seen.entry_point) {
      return "the record names the entry point '" + record.entry_point + "'";
    }
    if (seen.hook != Hook::kNone &&
        (record.hook != to_string(seen.hook) ||
         record.component != seen.component.name())) {
      return "the record says that the error came in " + record.hook + " of " +
             record.component;
    }
    if (seen.second_component != Component() &&
        std::ranges::find(record.suppressed, seen.second_component.name()) ==
            record.suppressed.end()) {
      return "the record does not tell of the second error, which came in " +
             std::string(seen.second_component.name());
    }
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Checker> check_one_record() {
  return std::make_unique<OneRecord>();
}

}  // namespace mishap
