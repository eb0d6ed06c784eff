#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mishap::faultinject {

/// Where something stands in the text of a plan; all from 1, 0 = not read from
/// a text. Places are not part of a plan's value: any two compare equal.
struct PlanPlace {
  std::uint32_t item = 0;
  std::uint32_t line = 0;
  /// In bytes, from the start of the line.
  std::uint32_t column = 0;
  friend bool operator==(const PlanPlace&, const PlanPlace&) { return true; }
};

/// A plan that can't be read or can't be armed. what() is one sentence: the
/// source, item and column, what was found there, what to do.
class PlanError : public std::invalid_argument {
 public:
  PlanError(std::string_view source, const PlanPlace& place,
            std::string_view problem, std::string_view advice);

  const PlanPlace& place() const { return place_; }

 private:
  PlanPlace place_;
};

}  // namespace mishap::faultinject
