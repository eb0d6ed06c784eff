#pragma once

#include <mishap/trainer/guard/observer.h>
#include <mishap/trainer/guard/run.h>

#include <string>
#include <vector>

namespace mishap {

/// Makes every hook of every component a fault point: `hook/<hook>/<component>`
/// before it and `hook/<hook>/<component>:after` when it has returned.
///
/// An interceptor, not called at hooks while nothing is armed or counted.
class FaultObserver final : public Observer {
 public:
  FaultObserver() = default;

  void on_enter(Run& run) override;
  const std::atomic<std::uint32_t>* calls_wanted() const noexcept override;
  void before(Run& run) override;
  void after(Run& run) override;
};

/// The points of all hooks of the components, as a plan may name them.
std::vector<std::string> hook_points(
    const std::vector<std::string>& components);

}  // namespace mishap
