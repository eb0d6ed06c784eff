#pragma once

#include <mishap/trainer/harness/contract/world.h>
#include <signal.h>

namespace mishap::app {

/// Lets a person stop a sweep by Ctrl-C although its cases raise SIGINT
/// themselves: tells signals from outside from those that the process sends to
/// itself.
class StopRequest {
 public:
  StopRequest() noexcept;
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// The signal that came from outside; 0 when none did.
  static int signal() noexcept;

  /// Listens during cases too, in which the subject sets handlers of its own
  /// before it makes a world.
  static WorldFactory listening(WorldFactory make_world);

 private:
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
};

}  // namespace mishap::app
