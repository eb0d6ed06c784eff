#include <mishap/collector/show/fields.h>
#include <mishap/collector/show/text.h>

namespace mishap::collector {

std::string Fields::word(const std::string& pointer,
                         std::string_view missing) const {
  const auto text = record_.text(pointer);
  return text ? printable(*text) : std::string(missing);
}

std::string Fields::number(const std::string& pointer) const {
  const auto value = record_.integer(pointer);
  return value ? std::to_string(*value) : std::string();
}

std::string Fields::place(const std::string& prefix) const {
  std::string line;
  append(line, " in ", word(prefix + "/hook"));
  append(line, " of ", word(prefix + "/component"));
  std::string counters;
  append(counters, ", stage ", word(prefix + "/stage"));
  append(counters, ", epoch ", number(prefix + "/epoch"));
  append(counters, ", batch ", number(prefix + "/batch_index"));
  append(counters, ", step ", number(prefix + "/global_step"));
  if (!counters.empty()) line += " (" + counters.substr(2) + ")";
  return line;
}

std::string at(std::string_view list, std::size_t index) {
  return std::string(list) + "/" + std::to_string(index);
}

void append(std::string& line, std::string_view before,
            const std::string& value) {
  if (!value.empty()) line += std::string(before) + value;
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

}  // namespace mishap::collector
