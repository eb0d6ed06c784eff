#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::collector {

/// The lines of a page, in sections of which each can be shortened.
class Page {
 public:
  struct Section {
    std::string title;
    std::vector<std::string> lines;
    /// The newest lines are the last ones: shortening takes the first.
    bool keep_last = false;
    std::size_t left_out = 0;

    std::size_t height() const;
  };

  explicit Page(bool colour) : colour_(colour) {}

  /// A new section at the end; one without lines is not shown. Valid as long
  /// as the page.
  Section& add(std::string title);

  /// The text in a terminal's colour ("1" bold, "33" yellow), if colours are
  /// wanted.
  std::string colour(std::string_view code, const std::string& text) const;

  /// Takes lines from the longest section until at most so many are left.
  void shorten(std::size_t max_lines);

  std::string text() const;

 private:
  bool colour_;
  std::deque<Section> sections_;
};

}  // namespace mishap::collector
