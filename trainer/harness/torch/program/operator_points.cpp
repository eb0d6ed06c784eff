#include <ATen/core/dispatch/Dispatcher.h>
#include <mishap/trainer/harness/preload/torch_door.h>
#include <mishap/trainer/harness/torch/program/libtorch_versions.h>
#include <torch/library.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

// The part of the agent that knows LibTorch: compiled against the LibTorch of
// the program, loaded into it, never linked with anything of Mishap's.

namespace mishap::program {
namespace {

/// The agent's numbers of operators by the address of their names, which
/// LibTorch keeps for as long as the operator is registered. Without a lock:
/// any thread may call an operator.
class OperatorIds {
 public:
  std::uint32_t of(const c10::OperatorName& name) {
    const auto key = reinterpret_cast<std::uintptr_t>(&name);
    for (std::size_t i = 0; i < kSlots; ++i) {
      Slot& slot = slots_[(key / kAlignment + i) % kSlots];
      std::uintptr_t seen = slot.key.load(std::memory_order_acquire);
      if (seen == key) {
        const std::uint32_t id = slot.id.load(std::memory_order_acquire);
        // Zero while another thread is about to write it.
        return id != 0 ? id - 1 : ask(name);
      }
      if (seen == 0) {
        const std::uint32_t id = ask(name);
        if (slot.key.compare_exchange_strong(seen, key,
                                             std::memory_order_acq_rel)) {
          slot.id.store(id + 1, std::memory_order_release);
        }
        return id;
      }
    }
    return ask(name);
  }

 private:
  static constexpr std::size_t kSlots = 1 << 14;
  static constexpr std::size_t kAlignment = 16;
  struct Slot {
    std::atomic<std::uintptr_t> key{0};
    std::atomic<std::uint32_t> id{0};
  };

  static std::uint32_t ask(const c10::OperatorName& name) {
    std::string point = "op/" + name.name;
    if (!name.overload_name.empty()) {
      point += '.' + name.overload_name;
    }
    return mishap_agent_point(point.c_str());
  }

  std::array<Slot, kSlots> slots_;
};

OperatorIds g_ids;

/// An operator that the program, autograd or an optimizer calls. What it calls
/// in turn is its own affair: the key is off meanwhile.
void at_operator(const c10::OperatorHandle& handle, c10::DispatchKeySet keys,
                 torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard below(kOperatorKey);
  mishap_agent_hit(g_ids.of(handle.operator_name()));
  handle.redispatchBoxed(
      keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kOperatorKey),
      stack);
}

struct Thrower {
  const char* type;
  void (*throw_it)(const char* text);
};

constexpr Thrower kThrowers[] = {
    {"c10", throw_error<c10::Error>},
    {"c10_index", throw_error<c10::IndexError>},
    {"c10_value", throw_error<c10::ValueError>},
    {"c10_type", throw_error<c10::TypeError>},
    {"c10_not_implemented", throw_error<c10::NotImplementedError>},
    {"oom", throw_error<c10::OutOfMemoryError>},
};

int throw_named(const char* type, const char* text) {
  for (const Thrower& thrower : kThrowers) {
    if (std::strcmp(thrower.type, type) == 0) {
      leave_backtraces_out();
      thrower.throw_it(text);
    }
  }
  return 0;
}

}  // namespace
}  // namespace mishap::program

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<
                   &mishap::program::at_operator>());
}

extern "C" void mishap_torch_thread_starts() {
  if (mishap_agent_wants("op") != 0) {
    mishap::program::see_operators_of_this_thread(true);
  }
}

/// As soon as the library is loaded, on the thread that loads it, after the
/// fallback was put in place.
namespace mishap::program {
namespace {
[[maybe_unused]] const bool g_is_in_place = [] {
  mishap_agent_set_thrower(throw_named);
  mishap_torch_thread_starts();
  return true;
}();
}  // namespace
}  // namespace mishap::program
