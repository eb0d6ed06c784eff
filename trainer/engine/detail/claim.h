#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace mishap::detail {

/// Which thread is inside an engine, and how deep.
struct Occupancy {
  std::mutex mutex;
  std::thread::id thread;
  std::string entry_point;
  int depth = 0;
};

/// One call's place in an engine, from take() to its own end.
class Claim {
 public:
  explicit Claim(Occupancy& occupancy) noexcept : occupancy_(occupancy) {}
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  /// Throws InputError when another thread is inside.
  void take(std::string_view entry_point);
  /// This call was made from a hook of another one.
  bool nested() const noexcept { return nested_; }

 private:
  Occupancy& occupancy_;
  bool taken_ = false;
  bool nested_ = false;
};

}  // namespace mishap::detail
