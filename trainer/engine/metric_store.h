#pragma once

#include <mishap/trainer/engine/log_options.h>
#include <mishap/trainer/engine/metrics.h>
#include <mishap/trainer/engine/state.h>
#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mishap {

/// Collects what is logged during one pass over the data and reduces it. For a
/// mean a value logged in a step counts once for each sample of its batch, so
/// that a short last batch does not weigh too much.
class MetricStore {
 public:
  /// Allocates only for a name that is new.
  void log(std::string_view name, double value, const LogOptions& how = {});
  /// One element of any type. On an accelerator the value of a mean or a sum
  /// is read when it is needed, not now.
  void log(std::string_view name, const torch::Tensor& value,
           const LogOptions& how = {});

  /// What values logged from now on weigh.
  void set_weight(std::int64_t weight) noexcept {
    weight_ = static_cast<double>(weight);
  }
  /// Follows each name from now on: one of several loaders.
  void set_suffix(std::string suffix) { suffix_ = std::move(suffix); }

  /// A value of a step was logged since the last take_latest().
  bool has_latest() const noexcept { return has_latest_; }
  /// The last values of what was logged for steps since the call before.
  Metrics take_latest();

  /// What was logged for the epoch, reduced.
  Metrics reduced();
  /// The last values of what the progress bar shows.
  Metrics shown();
  void clear() noexcept { entries_.clear(); }

  /// A copy that no value logged later changes.
  MetricStore snapshot();
  /// Of a snapshot.
  State state() const;
  void load_state(const State& state);

 private:
  struct Entry {
    std::string name;
    LogOptions how;
    double sum = 0;
    double weight = 0;
    double extreme = 0;
    double last = 0;
    bool latest = false;
    torch::Tensor pending_sum;
    torch::Tensor pending_last;
  };

  Entry& entry(std::string_view name, const LogOptions& how);
  void mark_latest(Entry& entry) noexcept;
  static void settle(Entry& entry);
  static double reduced(const Entry& entry);

  std::vector<Entry> entries_;
  std::string suffix_;
  double weight_ = 1;
  bool has_latest_ = false;
};

}  // namespace mishap
