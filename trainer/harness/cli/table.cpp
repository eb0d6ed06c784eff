#include <mishap/trainer/harness/cli/table.h>

#include <algorithm>
#include <utility>

namespace mishap::cli {

Table::Table(std::vector<std::string> head) {
  rows_.push_back(std::move(head));
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    text += row[0];
    std::size_t blanks = widths[0] - row[0].size();
    for (std::size_t i = 1; i < row.size(); ++i) {
      text.append(blanks + widths[i] - row[i].size() + 2, ' ');
      text += row[i];
      blanks = 0;
    }
    text += '\n';
  }
  return text;
}

std::string Table::markdown() const {
  std::string text;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (const std::string& cell : rows_[i]) {
      text += "| " + cell + ' ';
    }
    text += "|\n";
    for (std::size_t column = 0; i == 0 && column < rows_[0].size(); ++column) {
      text += column == 0 ? "|---" : "|---:";
    }
    text += i == 0 ? "|\n" : "";
  }
  return text;
}

}  // namespace mishap::cli
