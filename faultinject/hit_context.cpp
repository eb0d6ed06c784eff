#include <mishap/faultinject/hit_context.h>

namespace mishap::faultinject {
namespace {

constinit thread_local ContextFunction provider_function = nullptr;
constinit thread_local void* provider_data = nullptr;

}  // namespace

ContextScope::ContextScope(ContextFunction function, void* data) noexcept
    : previous_function_(provider_function), previous_data_(provider_data) {
  provider_function = function;
  provider_data = data;
}

ContextScope::~ContextScope() {
  provider_function = previous_function_;
  provider_data = previous_data_;
}

HitContext current_context() {
  return provider_function == nullptr ? HitContext()
                                      : provider_function(provider_data);
}

}  // namespace mishap::faultinject
