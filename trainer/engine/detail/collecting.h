#pragma once

#include <mishap/trainer/engine/session.h>

namespace mishap::detail {

/// While it lives, what is logged goes into `store`; afterwards to where it
/// went before.
class Collecting {
 public:
  Collecting(Session& session, MetricStore& store) noexcept
      : session_(session), outer_(session.store()) {
    session_.collect_into(&store);
  }
  ~Collecting() { session_.collect_into(outer_); }
  Collecting(const Collecting&) = delete;
  Collecting& operator=(const Collecting&) = delete;

 private:
  Session& session_;
  MetricStore* outer_;
};

}  // namespace mishap::detail
