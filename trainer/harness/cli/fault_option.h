#pragma once

#include <mishap/faultinject/scenario.h>

#include <string>
#include <vector>

namespace mishap::cli {

/// The plans of MISHAP_FAULTS, MISHAP_FAULTS_FILE and `--faults` in force, each
/// announced on stderr.
///
/// At the end of its life says on stderr which rules never struck. That is no
/// failure: the run may have ended early for a good reason.
class ArmedFaults {
 public:
  /// `option` is the text of `--faults`, or empty. Throws PlanError.
  explicit ArmedFaults(const std::string& option);
  ~ArmedFaults();
  ArmedFaults(const ArmedFaults&) = delete;
  ArmedFaults& operator=(const ArmedFaults&) = delete;

 private:
  faultinject::Scenario environment_;
  faultinject::Scenario option_;
};

/// Throws InputError when one of these plans names a hook, a component or an
/// entry point that is no part of the run, or when `--faults` holds no fault.
void check_fault_names(const std::string& option,
                       const std::vector<std::string>& components,
                       const std::vector<std::string>& entry_points);

}  // namespace mishap::cli
