#include <mishap/trainer/harness/program/case_message.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace mishap::program {
namespace {

// Texts of programs may hold any byte: CBOR takes them as they are.
using Json = nlohmann::json;

Json places_json(const std::vector<Place>& places) {
  Json all = Json::array();
  for (const Place& place : places) {
    all.push_back({place.module, place.offset});
  }
  return all;
}

class PlaceReader {
 public:
  PlaceReader(const Json& added, ModuleList& modules, std::size_t shared)
      : shared_(shared) {
    for (const Json& module : added) {
      indices_.push_back(modules.index_of(module[0].get<std::string>(),
                                          module[1].get<std::string>()));
    }
  }

  std::vector<Place> read(const Json& all) const {
    std::vector<Place> places;
    for (const Json& one : all) {
      Place place{one[0].get<std::uint32_t>(), one[1].get<std::uint64_t>()};
      if (place.module != ModuleList::kNone && place.module >= shared_) {
        place.module = indices_.at(place.module - shared_);
      }
      places.push_back(place);
    }
    return places;
  }

 private:
  std::size_t shared_;
  std::vector<std::uint32_t> indices_;
};

Json result_json(const CaseResult& result) {
  const FaultStory& story = result.story;
  const auto& verdict = result.verdict;
  return {{"outcome", static_cast<int>(verdict.outcome)},
          {"violated", verdict.violated},
          {"checked", verdict.checked},
          {"micros", verdict.micros},
          {"note", verdict.note},
          {"fired", story.has_fired},
          {"hit", places_json(story.hit_frames)},
          {"hit_python", story.hit_python},
          {"path", story.path},
          {"thrown", story.has_thrown},
          {"type", story.thrown_type},
          {"what", story.thrown_text},
          {"throw", places_json(story.throw_frames)},
          {"caught", static_cast<std::uint32_t>(story.catch_kind)},
          {"catch", places_json(story.catch_frames)},
          {"catch_python", story.catch_python},
          {"threads", story.threads_left},
          {"status", result.end.wait_status},
          {"hung", result.end.was_hung},
          {"nanos", result.end.time.count()},
          {"errors", result.end.errors},
          {"forked", result.was_forked}};
}

CaseResult read_result(const Json& json, const PlaceReader& places) {
  CaseResult result;
  auto& verdict = result.verdict;
  verdict.outcome =
      static_cast<faultinject::sweep::Outcome>(json.at("outcome").get<int>());
  json.at("violated").get_to(verdict.violated);
  json.at("checked").get_to(verdict.checked);
  json.at("micros").get_to(verdict.micros);
  json.at("note").get_to(verdict.note);
  FaultStory& story = result.story;
  json.at("fired").get_to(story.has_fired);
  story.hit_frames = places.read(json.at("hit"));
  json.at("hit_python").get_to(story.hit_python);
  json.at("path").get_to(story.path);
  json.at("thrown").get_to(story.has_thrown);
  json.at("type").get_to(story.thrown_type);
  json.at("what").get_to(story.thrown_text);
  story.throw_frames = places.read(json.at("throw"));
  story.catch_kind =
      static_cast<CatchKind>(json.at("caught").get<std::uint32_t>());
  story.catch_frames = places.read(json.at("catch"));
  json.at("catch_python").get_to(story.catch_python);
  json.at("threads").get_to(story.threads_left);
  json.at("status").get_to(result.end.wait_status);
  json.at("hung").get_to(result.end.was_hung);
  result.end.time = std::chrono::nanoseconds(json.at("nanos").get<long>());
  json.at("errors").get_to(result.end.errors);
  json.at("forked").get_to(result.was_forked);
  return result;
}

}  // namespace

std::string packed(const JobMessage& message, const ModuleList& modules,
                   std::size_t shared) {
  Json json{{"kind", static_cast<int>(message.kind)},
            {"text", message.text},
            {"again", message.again},
            {"left_states_out", message.left_states_out}};
  if (message.kind == JobMessage::Kind::kResult) {
    json["index"] = message.index;
    json["result"] = result_json(message.result);
    json["modules"] = Json::array();
    for (std::size_t i = shared; i < modules.all().size(); ++i) {
      json["modules"].push_back(
          {modules.all()[i].path, modules.all()[i].build_id});
    }
  }
  std::string body;
  Json::to_cbor(json, body);
  const std::uint64_t size = body.size();
  std::string all(sizeof size, '\0');
  std::memcpy(all.data(), &size, sizeof size);
  return all + body;
}

std::optional<JobMessage> take_message(std::string& came, ModuleList& modules,
                                       std::size_t shared) {
  std::uint64_t size = 0;
  if (came.size() < sizeof size) {
    return std::nullopt;
  }
  std::memcpy(&size, came.data(), sizeof size);
  if (came.size() - sizeof size < size) {
    return std::nullopt;
  }
  const Json json = Json::from_cbor(came.substr(sizeof size, size));
  came.erase(0, sizeof size + size);
  JobMessage message;
  message.kind = static_cast<JobMessage::Kind>(json.at("kind").get<int>());
  json.at("text").get_to(message.text);
  json.at("again").get_to(message.again);
  json.at("left_states_out").get_to(message.left_states_out);
  if (message.kind == JobMessage::Kind::kResult) {
    json.at("index").get_to(message.index);
    message.result = read_result(
        json.at("result"), PlaceReader(json.at("modules"), modules, shared));
  }
  return message;
}

}  // namespace mishap::program
