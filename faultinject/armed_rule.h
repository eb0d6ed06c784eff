#pragma once

#include <mishap/faultinject/action.h>
#include <mishap/faultinject/chunked.h>
#include <mishap/faultinject/hit_context.h>
#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/point.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

namespace mishap::faultinject {

/// A term with the counters of its rule. Lock-free.
class ArmedTerm {
 public:
  /// @param term outlives this.
  explicit ArmedTerm(const Term& term);

  /// Whether the filters let the hit pass.
  bool accepts(const HitContext& context) noexcept;
  /// Takes one from the count; false when none is left.
  bool take_one() noexcept;

  const Term& term() const { return *term_; }
  const Action& action() const { return *action_; }
  std::int64_t number() const { return read_.number; }
  const ThrowType* throw_type() const { return read_.throw_type; }
  /// As the plan writes it: `throw(runtime,boom)`.
  const std::string& action_text() const { return action_text_; }
  /// What to print, throw or return at `point`.
  std::string text_at(std::string_view point) const;

 private:
  const Term* term_;
  const Action* action_;
  ArgumentsRead read_;
  std::string action_text_;
  std::uint64_t every_ = 0;
  std::atomic<std::uint64_t> seen_{0};
  std::atomic<std::uint64_t> left_;
};

/// A rule in force: which of its terms strikes at a hit.
class ArmedRule {
 public:
  /// @param rule outlives this.
  ArmedRule(const Rule& rule, std::uint64_t seed);

  bool matches(PointId point) noexcept;

  /// The first term whose filters, coin and count let this hit pass; null when
  /// there is none.
  ArmedTerm* choose(const HitContext& context) noexcept;

  std::atomic<std::uint64_t> fired{0};

 private:
  bool toss(double percent) noexcept;

  const NamePattern* name_;
  PointId point_;
  std::unique_ptr<Chunked<std::atomic<std::uint8_t>>> matched_;
  std::uint64_t seed_;
  std::atomic<std::uint64_t> tosses_{0};
  std::deque<ArmedTerm> terms_;
};

}  // namespace mishap::faultinject
