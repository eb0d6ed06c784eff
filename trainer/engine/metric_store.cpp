#include <mishap/trainer/engine/detail/scalar_value.h>
#include <mishap/trainer/engine/metric_store.h>

#include <algorithm>

namespace mishap {
namespace {

bool is_summed(Reduce reduce) {
  return reduce == Reduce::kMean || reduce == Reduce::kSum;
}

// Is `name` the words of `head` followed by those of `tail`?
bool is_joined(std::string_view name, std::string_view head,
               std::string_view tail) {
  return name.size() == head.size() + tail.size() && name.starts_with(head) &&
         name.ends_with(tail);
}

}  // namespace

MetricStore::Entry& MetricStore::entry(std::string_view name,
                                       const LogOptions& how) {
  const auto found = std::find_if(
      entries_.begin(), entries_.end(),
      [&](const Entry& entry) { return is_joined(entry.name, name, suffix_); });
  if (found != entries_.end()) {
    return *found;
  }
  Entry& added = entries_.emplace_back();
  added.name = std::string(name) + suffix_;
  added.how = how;
  return added;
}

void MetricStore::mark_latest(Entry& entry) noexcept {
  entry.latest = entry.how.on_step;
  has_latest_ |= entry.how.on_step;
}

void MetricStore::log(std::string_view name, double value,
                      const LogOptions& how) {
  Entry& target = entry(name, how);
  if (is_summed(target.how.reduce)) {
    const double weight = target.how.reduce == Reduce::kMean ? weight_ : 1;
    target.sum += value * weight;
    target.weight += weight;
  } else {
    // Compared so that a value that is no number is not lost.
    const bool is_first = target.weight == 0;
    const bool is_further = target.how.reduce == Reduce::kMin
                                ? !(value >= target.extreme)
                                : !(value <= target.extreme);
    if (is_first || is_further) {
      target.extreme = value;
    }
    target.weight += 1;
  }
  target.last = value;
  target.pending_last = torch::Tensor();
  mark_latest(target);
}

void MetricStore::log(std::string_view name, const torch::Tensor& value,
                      const LogOptions& how) {
  Entry& target = entry(name, how);
  if (value.device().is_cpu() || !is_summed(target.how.reduce)) {
    log(name, detail::scalar_value(value), how);
    return;
  }
  const double weight = target.how.reduce == Reduce::kMean ? weight_ : 1;
  const torch::Tensor detached = value.detach().to(torch::kFloat64);
  const torch::Tensor weighted = detached * weight;
  target.pending_sum =
      target.pending_sum.defined() ? target.pending_sum + weighted : weighted;
  target.weight += weight;
  target.pending_last = detached;
  mark_latest(target);
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

double MetricStore::reduced(const Entry& entry) {
  switch (entry.how.reduce) {
    case Reduce::kMean:
      return entry.weight > 0 ? entry.sum / entry.weight : entry.last;
    case Reduce::kSum:
      return entry.sum;
    case Reduce::kMin:
    case Reduce::kMax:
      return entry.extreme;
    case Reduce::kLast:
      break;
  }
  return entry.last;
}

Metrics MetricStore::reduced() {
  Metrics metrics;
  for (Entry& entry : entries_) {
    if (entry.how.on_epoch) {
      settle(entry);
      metrics.emplace(entry.name, reduced(entry));
    }
  }
  return metrics;
}

Metrics MetricStore::shown() {
  Metrics metrics;
  for (Entry& entry : entries_) {
    if (entry.how.progress_bar) {
      settle(entry);
      metrics.emplace(entry.name, entry.last);
    }
  }
  return metrics;
}

MetricStore MetricStore::snapshot() {
  for (Entry& entry : entries_) {
    settle(entry);
  }
  return *this;
}

State MetricStore::state() const {
  State state;
  for (const Entry& entry : entries_) {
    State kept;
    kept.set("on_step", entry.how.on_step);
    kept.set("on_epoch", entry.how.on_epoch);
    kept.set("progress_bar", entry.how.progress_bar);
    kept.set("reduce", static_cast<std::int64_t>(entry.how.reduce));
    kept.set("sum", entry.sum);
    kept.set("weight", entry.weight);
    kept.set("extreme", entry.extreme);
    kept.set("last", entry.last);
    kept.set("latest", entry.latest);
    state.set(entry.name, kept);
  }
  return state;
}

void MetricStore::load_state(const State& state) {
  std::vector<Entry> entries;
  bool has_latest = false;
  for (const std::string& name : state.names()) {
    const State kept = state.inner(name);
    Entry entry;
    entry.name = name;
    entry.how.on_step = kept.flag("on_step");
    entry.how.on_epoch = kept.flag("on_epoch");
    entry.how.progress_bar = kept.flag("progress_bar");
    entry.how.reduce = static_cast<Reduce>(kept.integer("reduce"));
    entry.sum = kept.number("sum");
    entry.weight = kept.number("weight");
    entry.extreme = kept.number("extreme");
    entry.last = kept.number("last");
    entry.latest = kept.flag("latest");
    has_latest |= entry.latest;
    entries.push_back(std::move(entry));
  }
  entries_ = std::move(entries);
  has_latest_ = has_latest;
}

}  // namespace mishap
