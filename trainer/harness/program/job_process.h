#pragma once

#include <mishap/trainer/harness/program/job_place.h>
#include <mishap/trainer/harness/program/plan_cases.h>
#include <mishap/trainer/harness/program/private_view.h>
#include <mishap/trainer/harness/program/run_cases.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace mishap::program {

/// Which job tries which case, in memory that all jobs share: 0 none yet, else
/// the number of the job, from 1.
class CaseClaims {
 public:
  /// Throws std::system_error.
  explicit CaseClaims(std::size_t cases);
  ~CaseClaims();
  CaseClaims(const CaseClaims&) = delete;
  CaseClaims& operator=(const CaseClaims&) = delete;

  /// True for the job that came first, each time that it asks.
  bool take(std::size_t index, std::uint32_t job);
  std::uint32_t owner(std::size_t index) const { return claims_[index]; }

 private:
  std::size_t bytes_;
  std::atomic<std::uint32_t>* claims_;
};

/// What a job is given.
struct JobSetup {
  Workbench& parent;
  const CleanRun& clean;
  const CasePlan& plan;
  const PrivateView& view;
  CaseClaims& claims;
  std::uint32_t number;
};

/// The life of a job; to be called in a child made by fork().
[[noreturn]] void be_job(const JobSetup& setup, const JobPlace& place,
                         int socket, pid_t parent);

}  // namespace mishap::program
