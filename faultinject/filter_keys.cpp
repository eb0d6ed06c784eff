#include <mishap/faultinject/filter_keys.h>

#include <array>

namespace mishap::faultinject {
namespace {

constexpr std::array kFilters = {
    FilterInfo{FilterKey::kEntry, "entry", FilterValue::kText},
    FilterInfo{FilterKey::kStage, "stage", FilterValue::kText},
    FilterInfo{FilterKey::kEpoch, "epoch", FilterValue::kRange},
    FilterInfo{FilterKey::kBatch, "batch", FilterValue::kRange},
    FilterInfo{FilterKey::kStep, "step", FilterValue::kRange},
    FilterInfo{FilterKey::kRank, "rank", FilterValue::kRange},
    FilterInfo{FilterKey::kThread, "thread", FilterValue::kText},
    FilterInfo{FilterKey::kEvery, "every", FilterValue::kPositive},
};

}  // namespace

std::span<const FilterInfo> filter_infos() { return kFilters; }

const FilterInfo& filter_info(FilterKey key) {
  return kFilters[static_cast<std::size_t>(key)];
}

const FilterInfo* find_filter(std::string_view word) {
  for (const FilterInfo& info : kFilters) {
    if (info.word == word) return &info;
  }
  return nullptr;
}

}  // namespace mishap::faultinject
