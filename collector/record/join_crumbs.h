#pragma once

#include <mishap/collector/record/history.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mishap::collector {

/// One hook: the components that it went through one after another, or one
/// component in which it has not returned.
struct JoinedCrumb {
  static constexpr std::size_t kMaxComponents = 6;

  std::string_view hook;
  std::array<std::string_view, kMaxComponents> components;
  std::size_t components_size = 0;
  /// When the first component's call began.
  std::int64_t begin_nano = 0;
  /// When the last one's returned; empty when it has not.
  std::optional<std::int64_t> end_nano;

  std::span<const std::string_view> component_list() const noexcept {
    return {components.data(), components_size};
  }
};

/// Joins the moments of hook calls, in the order in which they began. Calls
/// nest, so an end belongs to the innermost open call of that hook and
/// component; an end whose beginning is not among the moments says nothing
/// and is passed over. Async-signal-safe.
class JoinedCrumbs {
 public:
  /// Moments older than so many are left out.
  static constexpr std::size_t kMaxMoments = 128;

  explicit JoinedCrumbs(std::span<const RecordBreadcrumb> moments) noexcept;

  std::span<const JoinedCrumb> items() const noexcept {
    return {items_.data(), size_};
  }

 private:
  void add(const RecordBreadcrumb& begin, const RecordBreadcrumb* end) noexcept;

  std::array<JoinedCrumb, kMaxMoments> items_;
  std::size_t size_ = 0;
};

}  // namespace mishap::collector
