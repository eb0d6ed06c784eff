#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace mishap {

/// How a loader cuts a data set into batches.
struct LoaderOptions {
  /// Samples in a batch, 1 or more.
  std::int64_t batch_size = 1;
  /// Threads that prepare batches ahead; 0 prepares them when asked for.
  std::int64_t workers = 0;
  /// A new order in each pass.
  bool shuffle = false;
  /// Leaves out a last batch that is smaller than the others.
  bool drop_last = false;
  /// Seeds the order. Without it the order follows torch::manual_seed and so
  /// the trainer's seed.
  std::optional<std::uint64_t> seed = std::nullopt;
  /// Longest wait for a worker's batch; no limit when unset.
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
};

namespace detail {

/// Throws InputError naming the first option that makes no sense. `loader`
/// names the kind of loader in the sentence.
void check(const LoaderOptions& options, const char* loader);

}  // namespace detail
}  // namespace mishap
