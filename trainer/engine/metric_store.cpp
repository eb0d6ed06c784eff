#include <mishap/trainer/engine/metric_store.h>

#include <algorithm>

namespace mishap {

MetricStore::Entry& MetricStore::entry(std::string_view name) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(),
                   [&](const Entry& entry) { return entry.name == name; });
  if (found != entries_.end()) {
    return *found;
  }
  Entry& added = entries_.emplace_back();
  added.name = name;
  return added;
}

void MetricStore::log(std::string_view name, double value) {
  Entry& target = entry(name);
  target.sum += value * weight_;
  target.weight += weight_;
  target.last = value;
  target.pending_last = torch::Tensor();
  target.latest = true;
  has_latest_ = true;
}

void MetricStore::log(std::string_view name, const torch::Tensor& value) {
  if (value.device().is_cpu()) {
    log(name, value.item<double>());
    return;
  }
  Entry& target = entry(name);
  const torch::Tensor detached = value.detach().to(torch::kFloat64);
  const torch::Tensor weighted = detached * weight_;
  target.pending_sum =
      target.pending_sum.defined() ? target.pending_sum + weighted : weighted;
  target.weight += weight_;
  target.pending_last = detached;
  target.latest = true;
  has_latest_ = true;
}

void MetricStore::settle(Entry& entry) {
  if (entry.pending_sum.defined()) {
    entry.sum += entry.pending_sum.item<double>();
    entry.pending_sum = torch::Tensor();
  }
  if (entry.pending_last.defined()) {
    entry.last = entry.pending_last.item<double>();
    entry.pending_last = torch::Tensor();
  }
}

Metrics MetricStore::take_latest() {
  Metrics latest;
  for (Entry& entry : entries_) {
    if (entry.latest) {
      settle(entry);
      latest.emplace(entry.name, entry.last);
      entry.latest = false;
    }
  }
  has_latest_ = false;
  return latest;
}

Metrics MetricStore::means() {
  Metrics means;
  for (Entry& entry : entries_) {
    settle(entry);
    means.emplace(entry.name,
                  entry.weight > 0 ? entry.sum / entry.weight : entry.last);
  }
  return means;
}

}  // namespace mishap
