#pragma once

#include <mishap/faultinject/firing.h>
#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/scope.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mishap::faultinject {

class ArmedPlan;

/// Whether arming says so on stderr, in one line.
enum class Announce : std::uint8_t { kQuiet, kStderr };

/// A plan in force, until the end of its life: leaving the block disarms,
/// however it is left. Several may be armed at once; a hit asks them in the
/// order of their arming.
///
/// All members may be called while other threads hit points.
class Scenario {
 public:
  /// Nothing armed.
  Scenario() noexcept;
  ~Scenario();
  Scenario(Scenario&& other) noexcept;
  Scenario& operator=(Scenario&& other) noexcept;

  /// Wakes what `pause` holds. What has fired can still be asked for.
  void disarm() noexcept;
  bool is_armed() const noexcept;

  const Plan& plan() const;

  /// How often a rule's actions ran (`off` is no action); over all rules.
  std::uint64_t fired(std::size_t rule) const;
  std::uint64_t fired() const;

  /// What ran, in order; the first kMaxFirings of it.
  std::vector<Firing> firings() const;
  static constexpr std::size_t kMaxFirings = 4096;

  /// The rules that have an action and never ran it.
  std::vector<std::size_t> never_fired() const;

  /// As Plan::unmatched().
  std::vector<Problem> unmatched(
      std::span<const std::string> known_names) const;

 private:
  friend Scenario arm(Plan plan, Scope scope, Announce announce);
  explicit Scenario(std::shared_ptr<ArmedPlan> armed) noexcept;

  std::shared_ptr<ArmedPlan> armed_;
};

/// Arms a plan.
/// @throws PlanError when a rule names a `user/…` point that the program does
/// not have, when a point can't take an action, or when this build has its
/// points compiled out.
[[nodiscard]] Scenario arm(Plan plan, Scope scope = Scope::process(),
                           Announce announce = Announce::kQuiet);

/// Disarms every scenario of the process, whoever holds it.
void disarm_all() noexcept;

/// How many scenarios are armed: 0 at the end of every good test.
std::size_t armed_count() noexcept;

}  // namespace mishap::faultinject
