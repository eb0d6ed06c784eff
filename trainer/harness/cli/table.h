#pragma once

#include <string>
#include <vector>

namespace mishap::cli {

/// Rows of words in columns, the first flush left and numbers flush right.
class Table {
 public:
  explicit Table(std::vector<std::string> head);

  /// As many cells as the head has.
  void add(std::vector<std::string> cells);

  /// For a terminal.
  std::string text() const;
  /// For a page.
  std::string markdown() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace mishap::cli
