#pragma once

namespace mishap::program {

/// While one lives, SIGINT, SIGTERM and SIGHUP are taken down instead of
/// ending the process: a sweep ends its case, puts the files back, and then
/// stops. A signal that was ignored stays ignored.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// The first that came; 0 when none did.
  static int came();
};

}  // namespace mishap::program
