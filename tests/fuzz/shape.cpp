#include "shape.h"

#include <algorithm>

namespace mishap::fuzz {
namespace {

using nlohmann::json;

bool is_of_type(const json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "array") return value.is_array();
  return value.is_object();
}

bool is_of_one_type(const json& value, const json& types) {
  if (types.is_string()) return is_of_type(value, types);
  return std::any_of(types.begin(), types.end(),
                     [&](const json& type) { return is_of_type(value, type); });
}

class Checker {
 public:
  explicit Checker(const json& root) : root_(root) {}

  std::optional<std::string> check(const json& value, const json& schema,
                                   const std::string& path) const {
    if (schema.contains("$ref")) {
      const std::string ref = schema["$ref"];
      return check(value, root_.at(json::json_pointer(ref.substr(1))), path);
    }
    if (schema.contains("type") && !is_of_one_type(value, schema["type"])) {
      return path + ": " + value.type_name() + ", not " + schema["type"].dump();
    }
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) ==
            schema["enum"].end()) {
      return path + ": " + value.dump() + " is none of its words";
    }
    if (value.is_object()) return check_members(value, schema, path);
    if (value.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (auto wrong = check(value[i], schema["items"],
                               path + "/" + std::to_string(i))) {
          return wrong;
        }
      }
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> check_members(const json& value,
                                           const json& schema,
                                           const std::string& path) const {
    for (const auto& key : schema.value("required", json::array())) {
      if (!value.contains(key))
        return path + "/" + std::string(key) + " is missing";
    }
    const json properties = schema.value("properties", json::object());
    for (const auto& [key, member] : value.items()) {
      if (!properties.contains(key)) return path + "/" + key + " is unknown";
      if (auto wrong = check(member, properties[key], path + "/" + key)) {
        return wrong;
      }
    }
    return std::nullopt;
  }

  const json& root_;
};

}  // namespace

std::optional<std::string> misfit(const json& value, const json& schema) {
  return Checker(schema).check(value, schema, "");
}

}  // namespace mishap::fuzz
