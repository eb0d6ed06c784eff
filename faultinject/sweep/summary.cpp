#include <mishap/faultinject/sweep/summary.h>

#include <algorithm>

namespace mishap::faultinject::sweep {

void Tally::add(const Verdict& verdict, bool is_known) {
  ++ran;
  ++outcomes[static_cast<std::size_t>(verdict.outcome)];
  if (is_known) ++known;
  if (!verdict.record_id.empty()) ++records;
}

double Summary::cases_per_second() const {
  return seconds > 0 ? static_cast<double>(tally.ran) / seconds : 0;
}

int Summary::exit_status() const {
  const std::uint64_t good = tally[Outcome::kHeld] + tally[Outcome::kRecovered];
  const bool repeats =
      !must_repeat || std::all_of(entry_points.begin(), entry_points.end(),
                                  [](const EntryPointRow& row) {
                                    return row.difference.empty();
                                  });
  return repeats && good + tally.known == tally.ran ? 0 : 3;
}

}  // namespace mishap::faultinject::sweep
