#pragma once

#include <mishap/trainer/guard/contract.h>
#include <mishap/trainer/guard/journal.h>
#include <mishap/trainer/harness/harness.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mishap {

/// Everything that one call of an entry point needs, built fresh for one case
/// of a sweep and small: real classes, smallest sizes, spies among the
/// components.
class World {
 public:
  virtual ~World() = default;

  /// Calls the entry point as a user would.
  virtual void call(std::string_view entry_point,
                    const HarnessOptions& options) = 0;

  virtual Journal& journal() = 0;
  /// The components that must be told of an error and torn down.
  virtual std::vector<Component> components() const = 0;
  virtual std::vector<Component> loggers() const = 0;
  /// Checkers that know this kind of world, beside standard_checkers().
  virtual std::vector<std::unique_ptr<Checker>> checkers() { return {}; }
};

/// Makes a world; every one is like the last, random numbers included.
using WorldFactory = std::function<std::unique_ptr<World>()>;

}  // namespace mishap
