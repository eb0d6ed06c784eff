#pragma once

#include <mishap/faultinject/sweep/subject.h>
#include <mishap/trainer/harness/contract/resources.h>
#include <mishap/trainer/harness/contract/world.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mishap {

/// Sweeps a world's entry points under the cleanup contract: each case in a
/// fresh world, judged by standard_checkers() and the world's own.
class ContractSubject final : public faultinject::sweep::Subject {
 public:
  /// `options.capture.records` is where the records of the cases go and are
  /// read from.
  ContractSubject(WorldFactory make_world,
                  std::vector<std::string> entry_points,
                  HarnessOptions options);

  std::vector<std::string> entry_points() override { return entry_points_; }
  std::vector<faultinject::PointId> baseline(
      std::string_view entry_point) override;
  faultinject::sweep::Scouted scout(
      const faultinject::sweep::Case& first) override;
  faultinject::sweep::Verdict run(
      const faultinject::sweep::Case& failing) override;

 private:
  struct Clean {
    Resources resources;
    std::vector<faultinject::PointId> sequence;
  };

  WorldFactory make_world_;
  std::vector<std::string> entry_points_;
  HarnessOptions options_;
  std::map<std::string, Clean, std::less<>> clean_;
};

}  // namespace mishap
