#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace mishap {

/// A number of batches (`10`) or a share of a pass (`0.5`; `1.0` is all of it,
/// `1` is one batch).
class BatchLimit {
 public:
  template <std::integral I>
  requires(!std::same_as<I, bool>)
      BatchLimit(I batches)  // NOLINT(google-explicit-constructor)
      : value_(static_cast<std::int64_t>(batches)) {}
  template <std::floating_point F>
  BatchLimit(F share)  // NOLINT(google-explicit-constructor)
      : value_(static_cast<double>(share)) {}

  bool is_share() const noexcept { return value_.index() == 1; }
  /// 0 or 0.0: the loop is left out.
  bool is_none() const noexcept;

  /// What is wrong with it in itself; empty when nothing is.
  std::string problem() const;
  std::string text() const;

  /// The number, or the share of a pass of `size` batches, rounded down; of an
  /// empty one still 1, so that it is noticed. `option` names it in the
  /// message. Throws InputError for a share of a pass whose size is not known,
  /// and for a share that is less than one batch.
  std::int64_t batches_of(std::optional<std::int64_t> size,
                          std::string_view option) const;

 private:
  std::variant<std::int64_t, double> value_;
};

}  // namespace mishap
