#include <mishap/trainer/engine/callbacks/checkpoint_book.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace mishap {
namespace {

State to_state(const CheckpointBook::Entry& entry) {
  State state;
  state.set("path", entry.path);
  state.set("score", entry.score);
  state.set("step", entry.step);
  return state;
}

CheckpointBook::Entry to_entry(const State& state) {
  return {state.text("path"), state.number("score"), state.integer("step")};
}

}  // namespace

// No number is worse than every number; among equals the newer one is better.
bool CheckpointBook::is_better(const Entry& one, const Entry& other) const {
  const bool is_number = !std::isnan(one.score);
  if (is_number != !std::isnan(other.score)) {
    return is_number;
  }
  if (!is_number || one.score == other.score) {
    return one.step > other.step;
  }
  return better_ == Better::kLower ? one.score < other.score
                                   : one.score > other.score;
}

bool CheckpointBook::wants(double score) const {
  if (keep_ < 0 || static_cast<std::int64_t>(best_.size()) < keep_) {
    return true;
  }
  if (keep_ == 0) {
    return false;
  }
  const Entry& worst = best_.back();
  return std::isnan(score) ? std::isnan(worst.score)
                           : is_better({"", score, worst.step}, worst) ||
                                 score == worst.score;
}

std::vector<std::string> CheckpointBook::enter(Entry entry) {
  std::erase_if(best_,
                [&](const Entry& other) { return other.path == entry.path; });
  const auto place =
      std::find_if(best_.begin(), best_.end(),
                   [&](const Entry& other) { return is_better(entry, other); });
  best_.insert(place, std::move(entry));
  std::vector<std::string> dropped;
  while (keep_ >= 0 && static_cast<std::int64_t>(best_.size()) > keep_) {
    dropped.push_back(best_.back().path);
    best_.pop_back();
  }
  return dropped;
}

State CheckpointBook::state() const {
  State state;
  state.set("best", best_.size());
  for (std::size_t i = 0; i < best_.size(); ++i) {
    state.set("best/" + std::to_string(i), to_state(best_[i]));
  }
  if (last_) {
    state.set("last", to_state(*last_));
  }
  return state;
}

void CheckpointBook::load_state(const State& state) {
  std::vector<Entry> best;
  const std::int64_t count = state.integer("best");
  for (std::int64_t i = 0; i < count; ++i) {
    best.push_back(to_entry(state.inner("best/" + std::to_string(i))));
  }
  std::optional<Entry> last;
  if (state.has("last")) {
    last = to_entry(state.inner("last"));
  }
  best_ = std::move(best);
  last_ = std::move(last);
}

}  // namespace mishap
