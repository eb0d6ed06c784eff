#pragma once

#include <mishap/faultinject/hit_context.h>

#include <cstdint>
#include <thread>

namespace mishap::faultinject {

/// Whose hits a scenario or a trace sees.
class Scope {
 public:
  /// Every hit of the process.
  static Scope process() { return Scope(Kind::kProcess, {}, nullptr); }
  /// Hits on the thread that calls this.
  static Scope thread() {
    return Scope(Kind::kThread, std::this_thread::get_id(), nullptr);
  }
  /// Hits whose context names this owner, on any thread.
  static Scope owner(const void* owner) {
    return Scope(Kind::kOwner, {}, owner);
  }

  bool covers(const HitContext& context) const {
    switch (kind_) {
      case Kind::kThread:
        return std::this_thread::get_id() == thread_;
      case Kind::kOwner:
        return context.owner == owner_;
      case Kind::kProcess:
        break;
    }
    return true;
  }

 private:
  enum class Kind : std::uint8_t { kProcess, kThread, kOwner };
  Scope(Kind kind, std::thread::id thread, const void* owner)
      : kind_(kind), thread_(thread), owner_(owner) {}

  Kind kind_;
  std::thread::id thread_;
  const void* owner_;
};

}  // namespace mishap::faultinject
