#pragma once

#include <mishap/trainer/engine/batch.h>
#include <mishap/trainer/engine/state.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace mishap {

/// A source of batches for one call of an entry point, pass after pass.
///
/// Made anew by the data module for every call and destroyed at its end; the
/// destructor must join whatever threads the loader started.
class Loader {
 public:
  virtual ~Loader() = default;

  /// Begins pass number `pass` (0, 1, …) from the first batch, wherever the
  /// pass before was left. Called before the first next() of each pass.
  virtual void start(std::int64_t pass) = 0;

  /// Begins a pass behind its first `batches` batches, as a run does that goes
  /// on from a checkpoint. The default loads them and drops them; override it
  /// when the loader can do better.
  virtual void start_at(std::int64_t pass, std::int64_t batches) {
    start(pass);
    while (batches-- > 0 && next()) {
    }
  }

  /// What the batches depend on beside the data set, the pass and the position:
  /// the seed of its order. Saved in checkpoints.
  virtual State state() const { return {}; }
  /// Called before the first start() of a fit that goes on from a checkpoint.
  virtual void load_state(const State&) {}

  /// The next batch. Nothing ends the pass, and only that does: an exception
  /// is an error, of whatever type.
  virtual std::optional<Batch> next() = 0;

  /// Batches in a pass, where that is known.
  virtual std::optional<std::int64_t> size() const { return std::nullopt; }
};

/// What a data module's hooks return; null where it has no such data.
using LoaderPtr = std::unique_ptr<Loader>;

}  // namespace mishap
