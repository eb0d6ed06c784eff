#include <mishap/faultinject/catalogue.h>

#include <map>
#include <mutex>

namespace mishap::faultinject {
namespace {

struct Catalogue {
  std::mutex mutex;
  std::map<std::string_view, PointInfo> points;

  // Never destroyed: points of other translation units are hit at exit.
  static Catalogue& instance() {
    static Catalogue* const catalogue = new Catalogue;
    return *catalogue;
  }
};

}  // namespace

PointId declare_point(std::string_view name, Capability capabilities,
                      ReturnCheck check_return) {
  const PointId point = intern(name);
  const std::string_view kept = name_of(point);
  Catalogue& catalogue = Catalogue::instance();
  const std::lock_guard lock(catalogue.mutex);
  const auto [place, is_new] = catalogue.points.try_emplace(
      kept, PointInfo{point, kept, capabilities, check_return});
  if (!is_new) {
    PointInfo& known = place->second;
    // Two places that return different types under one name: no text can be
    // trusted to suit both.
    if (known.check_return != check_return) {
      capabilities =
          static_cast<Capability>(static_cast<unsigned>(capabilities) &
                                  ~static_cast<unsigned>(Capability::kReturn));
    }
    known.capabilities = known.capabilities & capabilities;
  }
  return point;
}

std::vector<PointInfo> catalogue() {
  Catalogue& catalogue = Catalogue::instance();
  const std::lock_guard lock(catalogue.mutex);
  std::vector<PointInfo> points;
  points.reserve(catalogue.points.size());
  for (const auto& [name, info] : catalogue.points) points.push_back(info);
  return points;
}

std::optional<PointInfo> find_declared(std::string_view name) {
  Catalogue& catalogue = Catalogue::instance();
  const std::lock_guard lock(catalogue.mutex);
  const auto found = catalogue.points.find(name);
  if (found == catalogue.points.end()) return std::nullopt;
  return found->second;
}

bool is_declared_recoverable(PointId point) {
  const auto declared = find_declared(name_of(point));
  return declared && allows(declared->capabilities, Capability::kRecover);
}

}  // namespace mishap::faultinject
