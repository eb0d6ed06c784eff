#include <mishap/faultinject/sweep/enumerate.h>
#include <mishap/trainer/harness/cli/points_report.h>
#include <mishap/trainer/harness/cli/values.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

namespace mishap::cli {
namespace {

namespace sweep = faultinject::sweep;
using faultinject::PointId;
using Json = nlohmann::ordered_json;

constexpr std::size_t kCountWidth = 8;

std::string right_aligned(std::uint64_t count) {
  const std::string digits = std::to_string(count);
  return std::string(kCountWidth - std::min(kCountWidth, digits.size()), ' ') +
         digits;
}

}  // namespace

PointsOfEntry count_points(const std::string& entry_point,
                           const std::vector<PointId>& sequence,
                           const sweep::Options& options) {
  const std::vector<sweep::Hit> hits = chosen_hits(sequence, options);
  check_actions(hits, options);
  PointsOfEntry entry;
  entry.entry_point = entry_point;
  entry.hits = hits.size();
  entry.cases = single_cases(hits, options);
  std::map<PointId, std::size_t> places;
  for (const sweep::Hit& hit : hits) {
    const auto [place, is_new] =
        places.try_emplace(hit.point, entry.points.size());
    if (is_new) {
      entry.points.push_back({hit.point, 0, may_recover(hit.point, options)});
    }
    ++entry.points[place->second].hits;
  }
  return entry;
}

std::string points_text(const PointsOfEntry& entry,
                        const sweep::Options& options) {
  std::string text = entry.entry_point + ": " + counted(entry.hits, "hit") +
                     " of " + counted(entry.points.size(), "point") + " × " +
                     counted(options.actions.size(), "action") + " × " +
                     counted(options.modes.size(), "mode") + " = " +
                     counted(entry.cases, "case") + '\n';
  for (const PointsOfEntry::Row& row : entry.points) {
    text += right_aligned(row.hits) + "  " + std::string(name_of(row.point)) +
            (row.may_recover ? "  (may recover)\n" : "\n");
  }
  return text;
}

std::string points_json(std::span<const PointsOfEntry> entries,
                        const sweep::Options& options) {
  Json json;
  json["actions"] = options.actions;
  json["modes"] = Json::array();
  for (const sweep::Mode mode : options.modes) {
    json["modes"].push_back(to_string(mode));
  }
  json["entry_points"] = Json::array();
  for (const PointsOfEntry& entry : entries) {
    Json points = Json::array();
    for (const PointsOfEntry::Row& row : entry.points) {
      points.push_back({{"name", name_of(row.point)},
                        {"hits", row.hits},
                        {"may_recover", row.may_recover}});
    }
    json["entry_points"].push_back({{"name", entry.entry_point},
                                    {"hits", entry.hits},
                                    {"cases", entry.cases},
                                    {"points", std::move(points)}});
  }
  return json.dump(2) + '\n';
}

}  // namespace mishap::cli
