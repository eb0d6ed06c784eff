#include <mishap/fault_point.h>
#include <mishap/guard.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string_view>

namespace {

void train_one_batch(std::int64_t step, bool fails) {
  MISHAP_FAULT_POINT("batch");
  if (fails && step == 2) {
    throw std::runtime_error("the third batch failed");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool fails = argc > 1 && std::string_view(argv[1]) == "fail";
  std::printf("hook_is_live %s\n", mishap::hook_is_live() ? "true" : "false");
  return mishap::guarded_main(argc, argv, [fails] {
    const auto faults = mishap::arm_from_environment();
    mishap::guard("fit", [fails](mishap::Run& run) {
      for (std::int64_t step = 0; step < 4; ++step) {
        run.step(step);
        train_one_batch(step, fails);
      }
    });
  });
}
