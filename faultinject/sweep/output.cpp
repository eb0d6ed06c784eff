#include <mishap/faultinject/sweep/output.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

namespace mishap::faultinject::sweep {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json, int indent) {
  // Notes may quote messages that are no UTF-8.
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

void add_tally(Json& json, const Tally& tally) {
  json["ran"] = tally.ran;
  json["fired"] = tally.fired();
  for (std::size_t i = 0; i < kOutcomes; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    json[std::string(to_string(outcome))] = tally[outcome];
  }
  json["known"] = tally.known;
  json["records"] = tally.records;
}

Json entry_point_json(const EntryPointRow& row) {
  Json json;
  json["name"] = row.name;
  json["points"] = row.points;
  json["hits"] = row.hits;
  json["cases"] = row.cases;
  add_tally(json, row.tally);
  json["difference"] = row.difference;
  return json;
}

[[noreturn]] void cannot_write(const std::filesystem::path& path) {
  throw SweepError(path.string() +
                   " can't be written; choose a folder that is writable and "
                   "has room");
}

}  // namespace

std::string summary_json(const Summary& summary, const Options& options) {
  Json json;
  json["points"] = summary.points;
  json["hits"] = summary.hits;
  json["cases"] = summary.cases;
  add_tally(json, summary.tally);
  json["seconds"] = summary.seconds;
  json["cases_per_second"] = summary.cases_per_second();
  json["exhaustive"] = summary.exhaustive;
  json["seed"] = options.seed;
  json["shard"] = std::to_string(options.shard.index) + "/" +
                  std::to_string(options.shard.count);
  json["budget"] = options.budget ? Json(*options.budget) : Json(nullptr);
  json["pairs"] = options.pairs;
  json["actions"] = options.actions;
  json["modes"] = Json::array();
  for (const Mode mode : options.modes)
    json["modes"].push_back(to_string(mode));
  json["entry_points"] = Json::array();
  for (const EntryPointRow& row : summary.entry_points) {
    json["entry_points"].push_back(entry_point_json(row));
  }
  json["clauses"] = Json::array();
  for (const ClauseRow& row : summary.clauses) {
    json["clauses"].push_back({{"name", row.name},
                               {"checked", row.checked},
                               {"violated", row.violated}});
  }
  return dump(json, 2) + "\n";
}

Output::Output(std::filesystem::path folder) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    throw SweepError("the folder " + folder_.string() + " can't be made (" +
                     error.message() + "); choose another one");
  }
  if (!std::ofstream(cases_path(), std::ios::trunc)) cannot_write(cases_path());
}

void Output::write(const Case& failing, const Verdict& verdict, bool is_known) {
  if (folder_.empty()) return;
  Json json;
  json["id"] = failing.id;
  json["entry_point"] = failing.entry_point;
  json["point"] = name_of(failing.point);
  json["hit"] = failing.hit;
  json["action"] = failing.action;
  json["mode"] = to_string(failing.mode);
  json["second_point"] = nullptr;
  json["second_hit"] = nullptr;
  if (failing.second) {
    json["second_point"] = name_of(failing.second->hit.point);
    json["second_hit"] = failing.second->hit.index;
  }
  json["spec"] = failing.spec;
  json["outcome"] = to_string(verdict.outcome);
  json["violated"] = verdict.violated;
  json["known"] = is_known;
  json["record_id"] = verdict.record_id;
  json["micros"] = verdict.micros;
  json["note"] = verdict.note;
  // Opened for each line: a descriptor that stays open would be one more than
  // the subject's clean runs had, and what is written outlives the process.
  std::ofstream cases(cases_path(), std::ios::app);
  cases << dump(json, -1) << '\n';
  cases.close();
  has_failed_ |= !cases;
}

void Output::finish(const Summary& summary, const Options& options) {
  if (folder_.empty()) return;
  if (has_failed_) cannot_write(cases_path());
  const std::filesystem::path path = folder_ / "summary.json";
  std::ofstream file(path, std::ios::trunc);
  file << summary_json(summary, options);
  file.close();
  if (!file) cannot_write(path);
}

}  // namespace mishap::faultinject::sweep
