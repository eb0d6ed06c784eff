#pragma once

#include <memory>
#include <vector>

namespace mishap {

/// One piece of process state that a run hands back as it found it: the signal
/// mask, LibTorch's grad mode, a flag of the user's own.
class StateKeeper {
 public:
  virtual ~StateKeeper() = default;
  /// Puts back what the constructor saw. Called once, also after a failure.
  virtual void restore() = 0;
};

/// Makes a keeper that has looked at the state of now.
using StateKeeperFactory = std::unique_ptr<StateKeeper> (*)();

/// Adds a keeper to every run that starts from now on. Thread-safe; meant to be
/// called while the program loads.
void register_state_keeper(StateKeeperFactory factory);

/// One keeper of each registered kind, in the order of registration.
std::vector<std::unique_ptr<StateKeeper>> make_state_keepers();

}  // namespace mishap
