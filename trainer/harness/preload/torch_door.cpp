#include <mishap/trainer/harness/preload/hits.h>
#include <mishap/trainer/harness/preload/points.h>
#include <mishap/trainer/harness/preload/real_calls.h>
#include <mishap/trainer/harness/preload/torch_door.h>

using namespace mishap::preload;

MISHAP_INTERPOSE int mishap_agent_wants(const char* family) {
  return is_working() && wants_family(family) ? 1 : 0;
}

MISHAP_INTERPOSE uint32_t mishap_agent_point(const char* name) {
  const Inside inside;
  return is_working() ? point_of(name) : kNoPoint;
}

MISHAP_INTERPOSE int mishap_agent_hit(uint32_t point) {
  if (point != kNoPoint && may_hit()) {
    hit(point, __builtin_return_address(0));
  }
  return 0;
}

MISHAP_INTERPOSE void mishap_agent_set_thrower(mishap_thrower thrower) {
  set_thrower(thrower);
}
