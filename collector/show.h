#pragma once

#include <mishap/collector/reader.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mishap::collector {

/// A frame of a record that has no name yet.
struct UnnamedFrame {
  std::uint64_t address = 0;
  /// Index into the `modules` of the run's row.
  std::optional<std::size_t> module;
  std::optional<std::uint64_t> offset;
  /// It is the instruction at fault, not the one behind a call.
  bool exact = false;
};

/// One function at that address; an address has several when some are inlined.
struct NamedFrame {
  std::string function;
  std::string file;
  std::int32_t line = 0;
  bool in_app = false;
};

struct ShowOptions {
  /// Colours by terminal escapes.
  bool colour = false;
  /// At most so many lines; what is left out is counted.
  std::size_t max_lines = 60;
  /// Finds names for a frame that the record has only an address for, innermost
  /// first; an empty list when it cannot.
  std::function<std::vector<NamedFrame>(const UnnamedFrame&)> name_frame;
};

/// One record for a person: what happened, where, the stack with the user's own
/// frames marked, the fault, what went before, the cleanup and how to repeat
/// it. Control characters in the record's texts are shown, not obeyed.
std::string show(const StoredRecord& record, const ShowOptions& options = {});

}  // namespace mishap::collector
