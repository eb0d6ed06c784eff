#pragma once

namespace mishap::faultinject {

/// Registers the throw types `c10` (c10::Error), `c10_index` (c10::IndexError),
/// `c10_value` (c10::ValueError), `c10_type` (c10::TypeError),
/// `c10_not_implemented` (c10::NotImplementedError) and `oom`
/// (c10::OutOfMemoryError). Calling it again does nothing. Thread-safe.
void register_torch_throw_types();

}  // namespace mishap::faultinject
