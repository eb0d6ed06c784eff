#pragma once

#include <mishap/collector/modules.h>

#include <cstdint>
#include <string_view>

namespace mishap::collector {

/// One function on a stack. An address gives one frame for each function that
/// was inlined there and one for the function that holds the code. The texts
/// live until the process ends.
struct Frame {
  /// As captured, so usually the address after the call.
  std::uintptr_t address = 0;
  /// Index for module_at(), or kNoModule.
  int module = kNoModule;
  /// `address` minus the module's load address; `address` itself without one.
  std::uintptr_t offset = 0;
  /// Mangled name; empty when unknown.
  std::string_view symbol;
  /// Readable name; empty when unknown.
  std::string_view function;
  /// Source file; empty without debug information.
  std::string_view file;
  /// Counted from 1; 0 when unknown.
  int line = 0;
  /// Has no code of its own: it was inlined into the frame that follows.
  bool inlined = false;
  /// The program's own code, as opposed to that of a library.
  bool in_app = false;
};

}  // namespace mishap::collector
