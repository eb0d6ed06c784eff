#include <mishap/trainer/guard/contract.h>

#include <algorithm>
#include <array>

namespace mishap {
namespace {

constexpr std::array<std::string_view, kClauseCount> kNames = {
    "C1", "C2",  "C3",  "C4",  "C5",  "C6",  "C7", "C8",
    "C9", "C10", "C11", "C12", "C13", "C14", "C15"};
constexpr std::array<std::string_view, kClauseCount> kTitles = {
    "same error",        "one record",   "told once",     "torn down once",
    "nothing else runs", "loggers",      "process state", "model state",
    "resources",         "files",        "reuse",         "interrupts",
    "bounded",           "no false end", "honest exit"};

}  // namespace

std::string_view to_string(Clause clause) noexcept {
  return kNames[static_cast<std::size_t>(clause)];
}

const RecordSeen* Observation::own_record() const noexcept {
  const auto found = std::find_if(
      records.begin(), records.end(),
      [](const RecordSeen& seen) { return seen.parent_run_id.empty(); });
  return found == records.end() ? nullptr : &*found;
}

const RecordSeen* Observation::first_record() const noexcept {
  const RecordSeen* record = own_record();
  for (;;) {
    const auto inner = std::find_if(
        records.begin(), records.end(), [&](const RecordSeen& seen) {
          return record != nullptr && seen.parent_run_id == record->run_id;
        });
    if (inner == records.end()) {
      return record;
    }
    record = &*inner;
  }
}

bool Observation::anybody_told() const noexcept {
  return std::any_of(journal.begin(), journal.end(),
                     [](const JournalEntry& entry) {
                       return entry.hook == Hook::kOnException;
                     });
}

std::string_view title_of(Clause clause) noexcept {
  return kTitles[static_cast<std::size_t>(clause)];
}

}  // namespace mishap
