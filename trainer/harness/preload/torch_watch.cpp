#include <dlfcn.h>
#include <link.h>
#include <mishap/collector/resolve/capture.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/case_exit.h>
#include <mishap/trainer/harness/preload/code_places.h>
#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/inside.h>
#include <mishap/trainer/harness/preload/points.h>
#include <mishap/trainer/harness/preload/private_table.h>
#include <mishap/trainer/harness/preload/python_api.h>
#include <mishap/trainer/harness/preload/thread_starts.h>
#include <mishap/trainer/harness/preload/torch_watch.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

namespace mishap::preload {
namespace {

struct Mapped {
  unsigned long long adds = 0;
  bool has_torch = false;
  std::array<char, 512> c10{};
};

constinit std::atomic<unsigned long long> adds_seen{0};
constinit std::atomic<bool> is_loaded{false};
constinit BusyFlag looking;

// c10::SetStackTraceFetcher(std::function<std::string()>), which takes its
// argument by address.
using Fetcher = std::function<std::string()>;
using SetFetcher = void (*)(Fetcher*);
constexpr const char* kSetFetcher =
    "_ZN3c1020SetStackTraceFetcherESt8functionIFNSt7__cxx1112basic_stringIcSt11"
    "char_traitsIcESaIcEEEvEE";
constinit std::atomic<SetFetcher> set_fetcher{nullptr};

const char* file_of(const char* path) noexcept {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

int count_adds(dl_phdr_info* info, std::size_t, void* out) noexcept {
  static_cast<Mapped*>(out)->adds = info->dlpi_adds;
  return 1;
}

int look_at(dl_phdr_info* info, std::size_t, void* out) noexcept {
  auto& mapped = *static_cast<Mapped*>(out);
  mapped.adds = info->dlpi_adds;
  if (info->dlpi_name == nullptr) {
    return 0;
  }
  const char* const file = file_of(info->dlpi_name);
  if (std::strncmp(file, "libtorch_cpu.so", 15) == 0) {
    mapped.has_torch = true;
  } else if (std::strncmp(file, "libc10.so", 9) == 0) {
    std::strncpy(mapped.c10.data(), info->dlpi_name, mapped.c10.size() - 1);
  }
  return 0;
}

// The loader is at work further up: what it has mapped is not set up yet.
bool is_inside_loader() noexcept {
  collector::RawTrace trace;
  collector::capture_stack(trace);
  for (std::size_t i = 0; i < trace.size; ++i) {
    if (place_of(trace.addresses[i]).is_loader) {
      return true;
    }
  }
  return false;
}

void find_fetcher(const char* c10) noexcept {
  // LibTorch may be loaded such that nobody finds its symbols by name.
  if (void* const library = dlopen(c10, RTLD_NOLOAD | RTLD_LAZY)) {
    set_fetcher.store(
        reinterpret_cast<SetFetcher>(dlsym(library, kSetFetcher)));
  }
}

std::string torch_part() {
  if (agent.work.load() == Work::kPlan) {
    const char* const path = std::getenv("MISHAP_SWEEP_TORCH_PART");
    return path == nullptr ? "" : path;
  }
  return std::string(view_of(agent.control->torch_part));
}

void load_torch_part() {
  const std::string path = torch_part();
  if (path.empty() || !wants_family("op")) {
    return;
  }
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    copy_text(why == nullptr ? "it can't be loaded" : why,
              agent.control->torch_problem);
    return;
  }
  set_thread_starter(reinterpret_cast<void (*)()>(
      dlsym(library, "mishap_torch_thread_starts")));
}

}  // namespace

void look_for_torch() noexcept {
  Mapped now;
  dl_iterate_phdr(count_adds, &now);
  if (now.adds == adds_seen.load(std::memory_order_relaxed) ||
      is_loaded.load() || is_inside_loader()) {
    return;
  }
  const BusyLock lock(looking);
  if (!lock || is_loaded.load()) {
    return;
  }
  dl_iterate_phdr(look_at, &now);
  adds_seen.store(now.adds);
  look_for_python();
  if (!now.has_torch) {
    return;
  }
  is_loaded.store(true);
  agent.control->has_torch.store(1);
  try {
    const Inside inside;
    find_fetcher(now.c10.data());
    load_torch_part();
    end_case_before_libraries();
  } catch (...) {
    // For want of memory there are no operator points.
  }
}

void forget_native_backtraces() noexcept {
  const SetFetcher set = set_fetcher.load();
  if (set == nullptr) {
    return;
  }
  try {
    Fetcher none = [] { return std::string(); };
    set(&none);
  } catch (...) {
    // Slower, no more.
  }
}

}  // namespace mishap::preload
