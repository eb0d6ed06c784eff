#pragma once

#include <signal.h>

#include <cstddef>

namespace mishap::collector::detail {

/// The alternate signal stack of one thread, with a page below it that nobody
/// may touch. A plain value: thread-local storage must stay readable when all
/// destructors of a thread have run.
class AlternateStack {
 public:
  /// Gives the calling thread one, unless what it has is large enough.
  void install() noexcept;
  /// Puts back what install() found, if ours is still in place, and frees ours.
  /// Does nothing on the alternate stack itself.
  void remove() noexcept;

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  stack_t previous_{};
};

}  // namespace mishap::collector::detail
