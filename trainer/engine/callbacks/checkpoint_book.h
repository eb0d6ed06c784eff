#pragma once

#include <mishap/trainer/engine/plateau.h>
#include <mishap/trainer/engine/state.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mishap {

/// Which checkpoints are kept: the best so many, and the last. Knows paths and
/// scores, touches no file.
class CheckpointBook {
 public:
  struct Entry {
    std::string path;
    /// Of the monitored metric; NaN when there is none.
    double score = 0;
    std::int64_t step = 0;
  };

  /// `keep` of -1 is all, 0 none. Without a score the newest are the best.
  CheckpointBook(std::int64_t keep, Better better)
      : keep_(keep), better_(better) {}

  /// Would a checkpoint with that score be kept?
  bool wants(double score) const;

  /// Enters one and returns the paths that are no longer kept.
  std::vector<std::string> enter(Entry entry);
  void set_last(Entry entry) { last_ = std::move(entry); }

  /// Best first.
  const std::vector<Entry>& best() const noexcept { return best_; }
  const std::optional<Entry>& last() const noexcept { return last_; }

  State state() const;
  void load_state(const State& state);

 private:
  bool is_better(const Entry& one, const Entry& other) const;

  std::int64_t keep_;
  Better better_;
  std::vector<Entry> best_;
  std::optional<Entry> last_;
};

}  // namespace mishap
