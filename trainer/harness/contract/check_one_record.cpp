#include <mishap/trainer/harness/contract/checkers.h>

#include <algorithm>

namespace mishap {
namespace {

class OneRecord final : public Checker {
 public:
  Clause clause() const noexcept override { return Clause::kC2; }

  std::optional<std::string> judge(const Observation& seen) override {
    const auto own = std::ranges::count(seen.records, std::string(),
                                        &RecordSeen::parent_run_id);
    const int due = seen.failed() ? 1 : 0;
    if (own != due) {
      return "the run left " + std::to_string(own) + " records, " +
             std::to_string(due) + " is right";
    }
    if (due == 0) {
      return std::nullopt;
    }
    const RecordSeen& record = *seen.own_record();
    if (record.kind != "error" && record.kind != "interrupt") {
      return "the record's kind is '" + record.kind + "'";
    }
    if (record.entry_point != seen.entry_point) {
      return "the record names the entry point '" + record.entry_point + "'";
    }
    const RecordSeen& first = *seen.first_record();
    if (seen.hook != Hook::kNone &&
        (first.hook != to_string(seen.hook) ||
         first.component != seen.component.name())) {
      return "the record says that the error came in " + first.hook + " of " +
             first.component;
    }
    if (seen.second_component != Component() && !tells_of_second(seen)) {
      return "no record tells of the second error, which came in " +
             std::string(seen.second_component.name());
    }
    return std::nullopt;
  }

 private:
  static bool tells_of_second(const Observation& seen) {
    return std::ranges::any_of(seen.records, [&](const RecordSeen& record) {
      return std::ranges::find(record.suppressed,
                               seen.second_component.name()) !=
             record.suppressed.end();
    });
  }
};

}  // namespace

std::unique_ptr<Checker> check_one_record() {
  return std::make_unique<OneRecord>();
}

}  // namespace mishap
