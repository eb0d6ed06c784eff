#include <mishap/trainer/harness/cli/compare_records.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace mishap::cli {
namespace {

using collector::StoredRecord;

std::string shown(const std::optional<std::string>& value) {
  return value ? '\'' + *value + '\'' : std::string("nothing");
}

std::optional<std::string> difference(const StoredRecord& recorded,
                                      const StoredRecord& again,
                                      const std::string& pointer,
                                      std::string_view name) {
  const auto before = recorded.text(pointer);
  const auto now = again.text(pointer);
  if (before == now) {
    return std::nullopt;
  }
  return "the " + std::string(name) + " was " + shown(before) + " and is " +
         shown(now) + " now";
}

}  // namespace

std::optional<std::string> first_difference(const StoredRecord& recorded,
                                            const StoredRecord& again) {
  constexpr std::array<std::array<std::string_view, 2>, 6> kFields{
      {{"/kind", "kind"},
       {"/entry_point", "entry point"},
       {"/stage", "stage"},
       {"/hook", "hook"},
       {"/component", "component"},
       {"/interrupt/signal", "signal"}}};
  for (const auto& [pointer, name] : kFields) {
    if (auto found = difference(recorded, again, std::string(pointer), name)) {
      return found;
    }
  }
  const std::size_t causes =
      std::max(recorded.size("/exceptions"), again.size("/exceptions"));
  for (std::size_t i = 0; i < causes; ++i) {
    const std::string exception = "/exceptions/" + std::to_string(i);
    const std::string of_cause = i == 0 ? "" : " of its cause";
    if (auto found = difference(recorded, again, exception + "/type",
                                "type" + of_cause)) {
      return found;
    }
    if (auto found = difference(recorded, again, exception + "/message",
                                "message" + of_cause)) {
      return found;
    }
  }
  const std::size_t suppressed =
      std::max(recorded.size("/suppressed"), again.size("/suppressed"));
  for (std::size_t i = 0; i < suppressed; ++i) {
    const std::string error = "/suppressed/" + std::to_string(i);
    for (const std::string field : {"component", "type", "message"}) {
      if (auto found = difference(recorded, again, error + '/' + field,
                                  field + " of an error of the cleanup")) {
        return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace mishap::cli
