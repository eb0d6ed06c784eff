// A program that is interrupted: guarded runs, one after the other, for ever.
#include <mishap/guard.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "marks.h"

namespace {

using mishap::testing::mark;
using std::chrono::microseconds;

int runs = 0;

void one_run(mishap::Run& run) {
  ++runs;
  for (const char* name : {"data", "model"}) {
    const std::string part = name + std::to_string(runs);
    run.on_teardown(name, [part] {
      std::this_thread::sleep_for(microseconds(200));
      mark("teardown " + part);
    });
    mark("begin " + part);
    std::this_thread::sleep_for(microseconds(300));
  }
  for (int step = 0; step < 20; ++step) {
    run.step(step);
    std::this_thread::sleep_for(microseconds(200));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return mishap::guarded_main(argc, argv, [] {
    std::puts("ready");
    std::fflush(stdout);
    while (true) {
      mishap::guard("fit", one_run);
      std::this_thread::sleep_for(microseconds(500));
    }
  });
}
