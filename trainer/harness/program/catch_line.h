#pragma once

#include <mishap/trainer/harness/program/frame_names.h>
#include <mishap/trainer/harness/program/sightings.h>

#include <optional>
#include <string>
#include <vector>

namespace mishap::program {

/// A line of somebody's source.
struct SourceLine {
  std::string function;
  std::string file;
  int line = 0;
};

/// "load in data.cpp:41", with the whole path of the file; empty for no
/// function.
std::string text_of(const SourceLine& line);

/// Where a fault ended without being heard of: the handler that took its
/// exception, the call of the program whose failure went unnoticed, or Python's
/// `except`. Nothing when it is not known. The places of the story are to be
/// looked up before.
std::optional<SourceLine> catch_line(const FaultStory& story,
                                     const FrameNames& names);

/// The innermost line of the program at the hit, of Python where it runs.
std::optional<SourceLine> hit_line(const FaultStory& story,
                                   const FrameNames& names);

/// The `except` (or the `with`) that took an exception which came out of line
/// `line` of a Python source: by indentation, the nearest one behind the `try`
/// that holds the line. 0 when there is none.
int except_line(const std::vector<std::string>& source, int line);

/// Reads "file:line function".
std::optional<SourceLine> python_line(const std::string& text);

}  // namespace mishap::program
