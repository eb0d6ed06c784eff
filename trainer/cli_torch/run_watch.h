#pragma once

#include <mishap/trainer/engine/metrics.h>
#include <mishap/trainer/guard/observer.h>
#include <mishap/trainer/harness/cli/terminal.h>

namespace mishap::app {

/// Shows how far a run is, on a terminal, and keeps what a fit logged. An
/// observer and no callback, so that it adds no hooks to the run.
class RunWatch final : public Observer {
 public:
  void before(Run& run) override;
  void after(Run& run) override;
  void on_failure(Run& run, const Failure& failure) noexcept override;
  void on_close(Run& run, const Failure* failure) noexcept override;

  /// The means of the fit's last epoch.
  const Metrics& fit_metrics() const noexcept { return fit_metrics_; }

 private:
  cli::ProgressLine line_;
  Metrics fit_metrics_;
};

}  // namespace mishap::app
