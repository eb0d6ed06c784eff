#pragma once

#include <mishap/trainer/harness/program/control.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::program {

/// What is asked of one run of the program.
struct RunOrder {
  Mode mode = Mode::kCount;
  /// As a plan's patterns; empty: all points.
  std::vector<std::string> patterns;
  /// Globs of files; empty: all but the system's.
  std::vector<std::string> files;
  std::string case_stderr;
  std::string torch_part;
};

/// The mapped file that supervisor and agent share.
class ControlFile {
 public:
  /// Makes the file and maps it. Throws std::system_error.
  explicit ControlFile(std::string path);
  ~ControlFile();
  ControlFile(const ControlFile&) = delete;
  ControlFile& operator=(const ControlFile&) = delete;

  const std::string& path() const { return path_; }
  Control* operator->() const { return control_; }
  Control& operator*() const { return *control_; }

  /// Empties it for a new run, in which no process of an earlier one may live.
  /// Throws std::length_error when a text does not fit.
  void begin(const RunOrder& order) const;
  /// Plans a fault at hit `hit` of that point. Throws std::length_error when
  /// there is no room for it.
  void add_case(std::string_view point, std::uint64_t hit,
                std::string_view action, bool is_persistent) const;
  /// Empties the report before the next case.
  void clear_report() const;

  /// A text of the table; empty for kNoText.
  std::string text(std::uint32_t index) const;

 private:
  std::string path_;
  int file_ = -1;
  Control* control_ = nullptr;
};

/// The text up to its zero byte.
template <std::size_t kSize>
std::string text_of(const Text<kSize>& text) {
  const std::string_view all(text.bytes.data(), kSize);
  return std::string(all.substr(0, all.find('\0')));
}

/// Whether a control file made by this version fits that agent.
bool is_understood(const Control& control);

}  // namespace mishap::program
