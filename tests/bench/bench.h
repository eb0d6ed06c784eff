#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mishap::bench {

/// What the same run measured of something that is not ours. Targets are stated
/// for a machine on which that took `reference`; on another they scale with it.
struct Yardstick {
  std::string what;
  double measured = 1;
  double reference = 1;
  std::string unit = "us";

  double slowness() const { return measured / reference; }
};

/// One line of the report: a figure against the target that it is held to.
struct Row {
  std::string name;
  double figure = 0;
  /// On the machine of the yardstick's reference.
  double target = 0;
  std::string unit;
  /// The figure must not exceed the target; else it must reach it.
  bool at_most = true;
  /// What was measured, in a few words.
  std::string note;
  Yardstick yardstick = {};

  /// The target on this machine, now.
  double target_here() const {
    return at_most ? target * yardstick.slowness()
                   : target / yardstick.slowness();
  }
  bool met() const {
    return at_most ? figure <= target_here() : figure >= target_here();
  }
};

/// Seconds of one call.
double seconds_of(const std::function<void()>& work);

struct Pair {
  double first = 0;
  double second = 0;
};

/// Median seconds of each of two pieces of work, run in turn `rounds` times so
/// that both see the same machine.
Pair medians(int rounds, const std::function<void()>& first,
             const std::function<void()>& second);

struct Difference {
  /// Of the first piece of work.
  double first = 0;
  /// What the second took beyond the first that ran just before it.
  double more = 0;
};

/// Medians over `rounds` of what each piece says it took, run in turn. The
/// shorter a round, the less a machine that changes its speed falsifies it.
Difference median_difference(int rounds, const std::function<double()>& first,
                             const std::function<double()>& second);

/// Median seconds of one piece of work.
double median(int rounds, const std::function<void()>& work);

/// Keeps a value from being optimised away.
template <typename T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

std::vector<Row> core_rows(const std::string& folder);
std::vector<Row> trainer_rows(const std::string& folder);
std::vector<Row> sweep_rows(const std::string& folder);
std::vector<Row> program_rows(const std::string& folder);

}  // namespace mishap::bench
