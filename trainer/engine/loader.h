#pragma once

#include <mishap/trainer/engine/batch.h>

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

  /// The next batch. Nothing ends the pass, and only that does: an exception
  /// is an error, of whatever type.
  virtual std::optional<Batch> next() = 0;

  /// Batches in a pass, where that is known.
  virtual std::optional<std::int64_t> size() const { return std::nullopt; }
};

/// What a data module's hooks return; null where it has no such data.
using LoaderPtr = std::unique_ptr<Loader>;

}  // namespace mishap
