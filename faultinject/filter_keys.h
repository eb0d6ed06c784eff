#pragma once

#include <mishap/faultinject/plan.h>

#include <span>
#include <string_view>

namespace mishap::faultinject {

enum class FilterValue : std::uint8_t { kText, kRange, kPositive };

/// One row of the table of filters.
struct FilterInfo {
  FilterKey key;
  std::string_view word;
  FilterValue value;
};

std::span<const FilterInfo> filter_infos();
const FilterInfo& filter_info(FilterKey key);
/// Null when there is no such filter.
const FilterInfo* find_filter(std::string_view word);

}  // namespace mishap::faultinject
