#include <mishap/trainer/harness/program/catch_line.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace mishap::program {
namespace {

constexpr std::size_t kNoIndent = static_cast<std::size_t>(-1);

std::size_t indent_of(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  return first == std::string::npos || line[first] == '#' ? kNoIndent : first;
}

bool begins_with(const std::string& line, std::size_t indent,
                 const std::string& word) {
  return line.compare(indent, word.size(), word) == 0 &&
         (indent + word.size() == line.size() ||
          line.find_first_of(" :(", indent + word.size()) ==
              indent + word.size());
}

std::optional<SourceLine> own_line(const std::vector<Place>& places,
                                   const FrameNames& names) {
  std::optional<SourceLine> first;
  for (const Place& place : places) {
    for (const collector::NamedFrame& frame : names.of(place)) {
      const SourceLine line{frame.function, frame.file, frame.line};
      if (frame.in_app) {
        return line;
      }
      if (!first) {
        first = line;
      }
    }
  }
  return first;
}

std::vector<std::string> read_source(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
  }
  return lines;
}

// Code of the interpreter's own library is nobody's to mend.
bool is_library(const SourceLine& line) {
  return line.file.starts_with('<') ||
         line.file.find("/lib/python") != std::string::npos ||
         line.file.find("/dist-packages/") != std::string::npos ||
         line.file.find("/site-packages/") != std::string::npos;
}

std::optional<SourceLine> innermost_own(const std::string& python) {
  std::istringstream lines(python);
  std::optional<SourceLine> first;
  for (std::string text; std::getline(lines, text);) {
    const auto line = python_line(text);
    if (line && !is_library(*line)) {
      return line;
    }
    if (line && !first) {
      first = line;
    }
  }
  return first;
}

}  // namespace

std::string text_of(const SourceLine& line) {
  if (line.function.empty()) {
    return {};
  }
  if (line.file.empty()) {
    return line.function;
  }
  return line.function + " in " + line.file +
         (line.line > 0 ? ':' + std::to_string(line.line) : "");
}

std::optional<SourceLine> python_line(const std::string& text) {
  const std::size_t space = text.rfind(' ');
  const std::size_t colon = text.rfind(':', space);
  if (space == std::string::npos || colon == std::string::npos) {
    return std::nullopt;
  }
  return SourceLine{text.substr(space + 1), text.substr(0, colon),
                    std::atoi(text.c_str() + colon + 1)};
}

int except_line(const std::vector<std::string>& source, int line) {
  if (line < 1 || static_cast<std::size_t>(line) > source.size()) {
    return 0;
  }
  std::size_t inner = indent_of(source[static_cast<std::size_t>(line) - 1]);
  for (auto at = static_cast<std::size_t>(line) - 1; at-- > 0;) {
    const std::size_t indent = indent_of(source[at]);
    if (indent == kNoIndent || indent >= inner) {
      continue;
    }
    inner = indent;
    if (begins_with(source[at], indent, "def") ||
        begins_with(source[at], indent, "class")) {
      return 0;
    }
    if (!begins_with(source[at], indent, "try")) {
      continue;
    }
    for (std::size_t next = at + 1; next < source.size(); ++next) {
      const std::size_t there = indent_of(source[next]);
      if (there == kNoIndent || there > indent) {
        continue;
      }
      if (there == indent && begins_with(source[next], there, "except")) {
        // An `except` in front of the line is one of another try.
        return static_cast<int>(next) + 1 > line ? static_cast<int>(next) + 1
                                                 : 0;
      }
      break;
    }
  }
  return 0;
}

std::optional<SourceLine> catch_line(const FaultStory& story,
                                     const FrameNames& names) {
  if (story.catch_kind == CatchKind::kPython || !story.catch_python.empty()) {
    std::optional<SourceLine> line = innermost_own(story.catch_python);
    // The line of that frame at the fault is the one inside of the `try`.
    std::istringstream frames(story.hit_python);
    for (std::string text; line && std::getline(frames, text);) {
      const auto at_hit = python_line(text);
      if (at_hit && at_hit->file == line->file &&
          at_hit->function == line->function) {
        const int except = except_line(read_source(line->file), at_hit->line);
        line->line = except > 0 ? except : at_hit->line;
        break;
      }
    }
    if (line) {
      return line;
    }
  }
  if (story.catch_kind == CatchKind::kHandler) {
    return own_line(story.catch_frames, names);
  }
  return own_line(
      story.catch_frames.empty() ? story.hit_frames : story.catch_frames,
      names);
}

std::optional<SourceLine> hit_line(const FaultStory& story,
                                   const FrameNames& names) {
  if (!story.hit_python.empty()) {
    return innermost_own(story.hit_python);
  }
  return own_line(story.hit_frames, names);
}

}  // namespace mishap::program
