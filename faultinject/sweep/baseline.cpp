#include <mishap/faultinject/sweep/baseline.h>

#include <algorithm>

namespace mishap::faultinject::sweep {
namespace {

std::string name_at(const std::vector<PointId>& sequence, std::size_t index) {
  if (index >= sequence.size()) return "nothing";
  return "'" + std::string(name_of(sequence[index])) + "'";
}

bool is_reordered(std::vector<PointId> first, std::vector<PointId> second) {
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  return first == second;
}

std::string likely_cause(const std::vector<PointId>& first,
                         const std::vector<PointId>& second,
                         bool second_repeats) {
  if (is_reordered(first, second)) {
    return "the same points in another order: threads, or a container without "
           "an order";
  }
  if (second_repeats && first.size() > second.size()) {
    return "only the first run differs: something is done once in a process, "
           "such as lazy initialisation or filling a cache";
  }
  if (second_repeats) {
    return "only the first run differs: it left something behind, such as a "
           "file, a cache or a static variable";
  }
  return "every run differs: randomness without a seed, the clock, or state "
         "that grows from run to run";
}

}  // namespace

std::string first_difference(const std::vector<PointId>& first,
                             const std::vector<PointId>& second) {
  if (first == second) return "";
  const auto place =
      std::mismatch(first.begin(), first.end(), second.begin(), second.end())
          .first;
  const auto index = static_cast<std::size_t>(place - first.begin());
  return "hit " + std::to_string(index + 1) + " is " + name_at(first, index) +
         " in one run and " + name_at(second, index) + " in another";
}

std::size_t position_of(const std::vector<PointId>& sequence, const Hit& hit) {
  std::uint64_t seen = 0;
  const auto found =
      std::find_if(sequence.begin(), sequence.end(), [&](const PointId point) {
        return point == hit.point && ++seen == hit.index;
      });
  return static_cast<std::size_t>(found - sequence.begin());
}

bool same_until(const std::vector<PointId>& first,
                const std::vector<PointId>& second, std::size_t size) {
  return size <= first.size() && size <= second.size() &&
         std::equal(first.begin(),
                    first.begin() + static_cast<std::ptrdiff_t>(size),
                    second.begin());
}

Baseline take_baseline(Subject& subject, std::string_view entry_point) {
  Baseline baseline;
  baseline.entry_point = entry_point;
  baseline.sequence = subject.baseline(entry_point);
  std::vector<PointId> second = subject.baseline(entry_point);
  if (baseline.sequence == second) return baseline;
  const bool second_repeats = subject.baseline(entry_point) == second;
  baseline.difference = first_difference(baseline.sequence, second) +
                        "; likely cause: " +
                        likely_cause(baseline.sequence, second, second_repeats);
  // What later runs do is what the cases will meet.
  if (second_repeats) baseline.sequence = std::move(second);
  return baseline;
}

}  // namespace mishap::faultinject::sweep
