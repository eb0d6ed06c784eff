#pragma once

#include <string_view>

namespace mishap::collector {

/// What this library was built as.
struct BuildInfo {
  /// "0.1.0".
  std::string_view version;
  /// "GCC 12.2.0".
  std::string_view compiler;
  /// "Release"; empty when the build has no type.
  std::string_view type;
};

/// Async-signal-safe.
BuildInfo build_info() noexcept;

}  // namespace mishap::collector
