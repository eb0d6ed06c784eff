#pragma once

#include <mishap/trainer/engine/callback.h>
#include <mishap/trainer/engine/logger.h>
#include <mishap/trainer/guard/component.h>

#include <memory>
#include <string>
#include <vector>

namespace mishap::detail {

/// The components that every run has, interned once for the process.
struct FixedComponents {
  Component module = Component::named("module");
  Component data = Component::named("data");
  Component strategy = Component::named("strategy");
  Component loader = Component::named("loader");
  Component optimizer = Component::named("optimizer");
  Component checkpoint = Component::named("checkpoint");
};
const FixedComponents& fixed_components();

/// Gives each callback and logger of a call a name of its own: `prefix.Class`,
/// the second of the same name `prefix.Class#2`.
class ComponentNames {
 public:
  /// `own_name` replaces `class_name` unless it is empty. One with characters
  /// that no fault point may have is not used but kept as problem().
  Component add(const std::string& prefix, const std::string& own_name,
                const std::string& class_name);

  /// What is wrong with the first bad name; empty when all are fine.
  const std::string& problem() const noexcept { return problem_; }

 private:
  std::vector<std::string> taken_;
  std::string problem_;
};

struct CallbackSeat {
  std::shared_ptr<Callback> callback;
  Component component;
  bool monitors = false;
  bool saves = false;
};

struct LoggerSeat {
  std::shared_ptr<Logger> logger;
  Component component;
  /// It threw under OnLoggerError::kWarn.
  bool left_out = false;
};

}  // namespace mishap::detail
