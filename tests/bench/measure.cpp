#include <algorithm>

#include "bench.h"

namespace mishap::bench {
namespace {

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

Pair medians(int rounds, const std::function<void()>& first,
             const std::function<void()>& second) {
  std::vector<double> firsts;
  std::vector<double> seconds;
  for (int i = 0; i < rounds; ++i) {
    firsts.push_back(seconds_of(first));
    seconds.push_back(seconds_of(second));
  }
  return {median_of(std::move(firsts)), median_of(std::move(seconds))};
}

Difference median_difference(int rounds, const std::function<double()>& first,
                             const std::function<double()>& second) {
  std::vector<double> firsts;
  std::vector<double> more;
  for (int i = 0; i < rounds; ++i) {
    firsts.push_back(first());
    more.push_back(second() - firsts.back());
  }
  return {median_of(std::move(firsts)), median_of(std::move(more))};
}

double median(int rounds, const std::function<void()>& work) {
  std::vector<double> all;
  for (int i = 0; i < rounds; ++i) {
    all.push_back(seconds_of(work));
  }
  return median_of(std::move(all));
}

}  // namespace mishap::bench
