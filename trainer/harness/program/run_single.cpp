#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/program/run_cases.h>

#include <algorithm>

namespace mishap::program {

std::vector<std::string> put_files_back(Workbench& bench, const CleanRun& clean,
                                        KeptState& state) {
  const auto touched = read_touches(bench.control());
  return bench.files().put_back(state, [&](const std::string& path) {
    return touched.contains(path) || clean.files.touches.contains(path);
  });
}

CaseResult run_single(Workbench& bench, const CleanRun& clean, CaseJudge& judge,
                      const PlannedCase& planned) {
  const auto& failing = planned.failing;
  bench.control().begin(bench.order(Mode::kSingle));
  bench.control().add_case(
      name_of(failing.point), failing.hit, failing.action,
      failing.mode == faultinject::sweep::Mode::kPersistent);
  KeptState initial = clean.files.initial;
  RunEnd end = bench.run(Role::kProgram, limit_of(bench.options(), clean));
  const auto time = end.time;
  CaseResult result = judge.judge(failing, std::move(end));
  result.verdict.micros =
      std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  put_files_back(bench, clean, initial);
  return result;
}

}  // namespace mishap::program
