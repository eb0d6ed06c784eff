// A library that is preloaded into Python: crash records in a process whose
// main program is not ours.
#include <mishap/guard.h>

extern "C" {

[[gnu::visibility("default")]] void record_crashes() {
  mishap::record_crashes();
}

[[gnu::visibility("default")]] void crash() {
  volatile int* nowhere = nullptr;
  asm volatile("" : "+r"(nowhere));
  *nowhere = 1;
}
}
