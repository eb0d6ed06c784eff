#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mishap::collector {

/// How many records a process writes before it only counts them.
struct RecordCaps {
  /// Of one kind of error: those with the same key.
  std::uint64_t of_a_key = 100;
  /// Of all kinds together.
  std::uint64_t in_all = 10'000;

  static constexpr RecordCaps none() noexcept {
    return {~std::uint64_t{0}, ~std::uint64_t{0}};
  }
};

/// What became of one record.
struct RecordCount {
  bool is_kept = true;
  /// The first one that is left out, of its key or in all.
  bool is_first_left_out = false;
  /// How often the process has had its key, this time included.
  std::uint64_t of_the_key = 1;
  /// How many records of all kinds were left out by now.
  std::uint64_t left_out = 0;
};

/// Counts the records of a process by key, and says which are kept: the first
/// ones up to the cap, then each whose number is the cap times a power of two,
/// so that one can see that it goes on and how often it has happened. A process
/// that fails without end then leaves a file that grows by the logarithm.
///
/// Knows kKeys different keys; further ones share the last place. Lock-free,
/// async-signal-safe.
class RecordCounter {
 public:
  static constexpr std::size_t kKeys = 1024;

  RecordCount count(std::string_view key, const RecordCaps& caps) noexcept;
  std::uint64_t left_out() const noexcept { return left_out_.load(); }

 private:
  struct Place {
    std::atomic<std::uint64_t> key = 0;
    std::atomic<std::uint64_t> count = 0;
  };

  Place& place_of(std::uint64_t key) noexcept;

  std::array<Place, kKeys> places_{};
  std::atomic<std::uint64_t> all_ = 0;
  std::atomic<std::uint64_t> left_out_ = 0;
};

}  // namespace mishap::collector
