#pragma once

#include <mishap/trainer/engine/metrics.h>
#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mishap {

/// Collects what is logged during one pass over the data and reduces it to
/// means. A value logged in a step counts once for each sample of its batch,
/// so that a short last batch does not weigh too much.
class MetricStore {
 public:
  /// Allocates only for a name that is new.
  void log(std::string_view name, double value);
  /// One element of any type. On an accelerator the value is read when it is
  /// needed, not now.
  void log(std::string_view name, const torch::Tensor& value);

  /// What values logged from now on weigh.
  void set_weight(std::int64_t weight) noexcept {
    weight_ = static_cast<double>(weight);
  }

  /// Something was logged since the last take_latest().
  bool has_latest() const noexcept { return has_latest_; }
  /// The last values of what was logged since the call before.
  Metrics take_latest();

  Metrics means();
  void clear() noexcept { entries_.clear(); }

 private:
  struct Entry {
    std::string name;
    double sum = 0;
    double weight = 0;
    double last = 0;
    bool latest = false;
    torch::Tensor pending_sum;
    torch::Tensor pending_last;
  };

  Entry& entry(std::string_view name);
  static void settle(Entry& entry);

  std::vector<Entry> entries_;
  double weight_ = 1;
  bool has_latest_ = false;
};

}  // namespace mishap
