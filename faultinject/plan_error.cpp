#include <mishap/faultinject/plan_error.h>

namespace mishap::faultinject {
namespace {

std::string sentence(std::string_view source, const PlanPlace& place,
                     std::string_view problem, std::string_view advice) {
  std::string text = "fault plan";
  if (!source.empty()) {
    text += ' ';
    text += source;
  }
  if (place.item > 0) text += ", item " + std::to_string(place.item);
  if (place.line > 1) text += ", line " + std::to_string(place.line);
  if (place.column > 0) text += ", column " + std::to_string(place.column);
  text += ": ";
  text += problem;
  if (!advice.empty()) {
    text += "; ";
    text += advice;
  }
  return text;
}

}  // namespace

PlanError::PlanError(std::string_view source, const PlanPlace& place,
                     std::string_view problem, std::string_view advice)
    : std::invalid_argument(sentence(source, place, problem, advice)),
      place_(place) {}

}  // namespace mishap::faultinject
