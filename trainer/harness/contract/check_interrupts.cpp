#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/contract/checkers.h>

namespace mishap {
namespace {

class Interrupts final : public Checker {
 public:
  Clause clause() const noexcept override { return Clause::kC12; }

  bool applies(const Observation& seen) const override {
    return seen.signal != 0;
  }

  std::optional<std::string> judge(const Observation& seen) override {
    if (seen.caught == nullptr) {
      return "the signal was swallowed: the call returned as a success";
    }
    try {
      std::rethrow_exception(seen.caught);
    } catch (const Interrupted& interrupted) {
      if (interrupted.signal() != seen.signal) {
        return "another signal was reported than was sent";
      }
    } catch (...) {
      return "the call ended with another error than Interrupted";
    }
    for (const RecordSeen& record : seen.records) {
      if (record.kind != "interrupt") {
        return "the record's kind is '" + record.kind + "', not 'interrupt'";
      }
    }
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Checker> check_interrupts() {
  return std::make_unique<Interrupts>();
}

}  // namespace mishap
