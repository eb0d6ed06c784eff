#pragma once

#include <mishap/faultinject/throw_type.h>

#include <vector>

namespace mishap::faultinject {

/// The throw types that need nothing but the standard library.
std::vector<ThrowType> std_throw_types();

}  // namespace mishap::faultinject
