#pragma once

#include <mishap/faultinject/sweep/subject.h>
#include <mishap/trainer/cli_torch/task_choice.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::app {

/// A subject whose records name the command that repeats their case.
class RepeatableSubject final : public faultinject::sweep::Subject {
 public:
  RepeatableSubject(faultinject::sweep::Subject& subject,
                    const TaskChoice& choice);

  std::vector<std::string> entry_points() override;
  std::vector<faultinject::PointId> baseline(
      std::string_view entry_point) override;
  faultinject::sweep::Scouted scout(
      const faultinject::sweep::Case& first) override;
  faultinject::sweep::Verdict run(
      const faultinject::sweep::Case& failing) override;

 private:
  faultinject::sweep::Subject& subject_;
  std::map<std::string, std::string, std::less<>> commands_;
};

}  // namespace mishap::app
