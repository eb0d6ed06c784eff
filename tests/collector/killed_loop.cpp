// Numbered hooks for ever, for a test that kills this program: the number of
// each is stored in a mapping of the test's own, just before the hook begins.
// Compiled once with LibTorch at work inside the hooks and once without.
//
//   killed_loop MAPPING     a file of 16 bytes: hook number, process id
//   killed_loop --once      a run that ends well, and so recovers what others
//                           left in the folder
#include <fcntl.h>
#include <mishap/guard.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>

#ifdef MISHAP_KILLED_WITH_TORCH
#include <torch/torch.h>
#endif

namespace {

using mishap::Component;
using mishap::Hook;

struct Mapping {
  std::atomic<std::int64_t> number;
  std::atomic<std::int64_t> pid;
};

// Hook number n is the n-th of these, counted round; the last one runs inside
// the one before it.
constexpr std::array kHooks = {Hook::kOnTrainBatchStart, Hook::kBackward,
                               Hook::kOptimizerStep, Hook::kTrainingStep};

class Work {
 public:
  void operator()() {
#ifdef MISHAP_KILLED_WITH_TORCH
    const torch::Tensor loss = layer_(torch::ones({4, 8})).square().mean();
    loss.backward();
#endif
  }

 private:
#ifdef MISHAP_KILLED_WITH_TORCH
  torch::nn::Linear layer_{8, 8};
#endif
};

void numbered_hooks(mishap::Run& run, Mapping& mapping) {
  const std::array components = {
      Component::named("callback.First"), Component::named("module"),
      Component::named("optimizer"), Component::named("module")};
  Work work;
  std::int64_t number = -1;
  run.set_stage(mishap::Stage::kTrain);
  const auto next = [&](auto body) {
    ++number;
    const auto kind = static_cast<std::size_t>(number) % kHooks.size();
    run.set_step(number);
    run.set_batch(number * 3);
    mapping.number.store(number);
    run.call(kHooks[kind], components[kind], body);
  };
  next(work);
  std::puts("ready");
  std::fflush(stdout);
  next(work);
  while (true) {
    next([&] {
      work();
      next(work);
    });
    next(work);
    next(work);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return mishap::guarded_main(argc, argv, [&] {
    if (argc != 2) {
      throw mishap::InputError("usage: killed_loop MAPPING | --once");
    }
    if (std::strcmp(argv[1], "--once") == 0) {
      mishap::guard("fit", [](mishap::Run& run) { run.step(0); });
      return;
    }
    const int file = open(argv[1], O_RDWR);
    void* const page = mmap(nullptr, sizeof(Mapping), PROT_READ | PROT_WRITE,
                            MAP_SHARED, file, 0);
    if (page == MAP_FAILED) {
      throw mishap::InputError("the mapping cannot be mapped");
    }
    auto& mapping = *static_cast<Mapping*>(page);
    mapping.pid.store(getpid());
    mishap::guard("fit",
                  [&](mishap::Run& run) { numbered_hooks(run, mapping); });
  });
}
