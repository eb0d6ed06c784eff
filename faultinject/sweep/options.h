#pragma once

#include <mishap/faultinject/pattern.h>
#include <mishap/faultinject/sweep/case.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::faultinject::sweep {

/// A sweep that was asked for something impossible, or that can't write its
/// results. what() is one sentence.
class SweepError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The part `index` (from 1) of a sweep cut into `count` parts.
struct Shard {
  std::uint32_t index = 1;
  std::uint32_t count = 1;

  /// Reads `2/8`. @throws SweepError
  static Shard parse(std::string_view text);
};

/// One hit, its point by name.
struct HitName {
  std::string point;
  /// Among the hits of this point, from 1.
  std::uint64_t index = 0;
};

struct Options {
  /// Empty: all of the subject's.
  std::vector<std::string> entry_points;
  /// Empty: all points. A pattern without `:after` takes in both.
  std::vector<NamePattern> points;
  std::vector<std::string> actions = {"throw(runtime)"};
  std::vector<Mode> modes = {Mode::kTransient};
  /// Points at which a run may succeed although its fault fired, beside those
  /// that are declared so.
  std::vector<NamePattern> recovers;
  /// The cases are pairs: a second fault at every hit that follows the first.
  bool pairs = false;
  /// Only this hit, whatever `points` says; of a pair, the first one.
  std::optional<HitName> only;
  /// Only this hit as the second one of a pair.
  std::optional<HitName> only_second;
  Shard shard;
  /// Run only so many cases, spread evenly over all; none = all of them.
  std::optional<std::uint64_t> budget;
  /// Chooses within the budget.
  std::uint64_t seed = 0;
  /// The cases.jsonl of an earlier sweep: what it found wrong is known, and
  /// passes as long as it gets no worse. Empty: nothing is known.
  std::filesystem::path known;
  /// The folder for cases.jsonl and summary.json, made if need be. Empty:
  /// nothing is written.
  std::filesystem::path out;
  /// Called after each run that looks for pairs, with how many of how many were
  /// made. May throw: that ends the sweep.
  std::function<void(std::uint64_t done, std::uint64_t planned)> scouts;
  /// Called once everything was found good, before `out` is touched.
  std::function<void()> begins;
};

}  // namespace mishap::faultinject::sweep
