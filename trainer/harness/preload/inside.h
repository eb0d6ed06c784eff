#pragma once

#include <cerrno>

namespace mishap::preload {

[[gnu::tls_model(
    "initial-exec")]] extern constinit thread_local bool is_inside_agent;

/// While it lives, nothing that this thread calls is a hit, and errno is what
/// it was before.
class Inside {
 public:
  Inside() noexcept : was_(is_inside_agent), errno_(errno) {
    is_inside_agent = true;
  }
  ~Inside() {
    is_inside_agent = was_;
    errno = errno_;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const bool was_;
  const int errno_;
};

}  // namespace mishap::preload
