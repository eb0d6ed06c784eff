#pragma once

#include <mishap/collector/throw_site.h>

#include <cstdint>

namespace mishap::collector {

/// LibTorch's state at the moment of a throw, on the throwing thread, before
/// unwinding freed tensors and restored modes.
struct TorchThrowSample {
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t live_blocks = 0;
  bool taken = false;
  bool grad_enabled = false;
  bool inference_mode = false;
  bool anomaly = false;
};

/// Makes the throw hook take a TorchThrowSample at each captured throw.
/// Thread-safe.
void install_torch_throw_sampler() noexcept;

/// `taken` is false when the throw happened without the sampler.
TorchThrowSample torch_throw_sample(const ThrowSite& site) noexcept;

}  // namespace mishap::collector
