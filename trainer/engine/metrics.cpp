#include <mishap/trainer/engine/metrics.h>

namespace mishap {

std::string names_of(const Metrics& metrics) {
  std::string names;
  for (const auto& [name, value] : metrics) {
    names += (names.empty() ? "" : ", ") + name;
  }
  return names.empty() ? "none" : names;
}

}  // namespace mishap
