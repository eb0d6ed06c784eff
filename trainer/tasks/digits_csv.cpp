#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/tasks/digits_csv.h>

#include <array>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace mishap::tasks {
namespace {

constexpr std::size_t kLabel = DigitRows::kPixels;
constexpr std::size_t kSplit = kLabel + 1;
constexpr std::size_t kColumns = kSplit + 1;
constexpr int kMaxPixel = 16;
constexpr int kMaxLabel = 9;
constexpr std::array<std::string_view, 3> kSplitWords = {"train", "validation",
                                                         "test"};

std::string column_name(std::size_t column) {
  if (column == kLabel) return "label";
  if (column == kSplit) return "split";
  return "p" + std::to_string(column);
}

/// Text of a file as it may appear in a message: short and printable.
std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 24;
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 0xF];
    }
  }
  if (text.size() > kLongest) out += "…";
  return out + "\"";
}

std::string read_file(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) {
    throw InputError(file.string() + ": no such file (" +
                     (error ? error.message() : "not found") +
                     "): name an existing digits.csv.");
  }
  if (std::filesystem::is_directory(status)) {
    throw InputError(file.string() +
                     ": this is a folder: name the digits.csv in it.");
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw InputError(file.string() +
                     ": this is not a regular file: name a digits.csv.");
  }
  const auto size = std::filesystem::file_size(file, error);
  std::string text(error ? 0 : size, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), std::ssize(text));
  if (error || !stream.is_open() || stream.gcount() != std::ssize(text)) {
    throw InputError(file.string() +
                     ": cannot be read: check its permissions and the disk.");
  }
  return text;
}

class Parser {
 public:
  Parser(const std::filesystem::path& file, Split split)
      : file_(file), wanted_(split) {}

  DigitRows parse(std::string_view text) {
    if (text.empty()) fail("the file is empty");
    while (!text.empty()) {
      ++row_;
      const auto end = text.find('\n');
      last_is_cut_ = end == std::string_view::npos;
      auto line = text.substr(0, end);
      text.remove_prefix(last_is_cut_ ? text.size() : end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      row_ == 1 ? read_header(line) : read_row(line);
    }
    if (rows_.size() == 0) {
      row_ = 0;
      fail("no row belongs to the split " +
           shown(kSplitWords[static_cast<std::size_t>(wanted_)]));
    }
    return std::move(rows_);
  }

 private:
  void split_columns(std::string_view line) {
    if (line.empty()) fail("the line is empty");
    std::size_t count = 0;
    std::size_t start = 0;
    for (std::size_t i = 0; i <= line.size(); ++i) {
      if (i < line.size() && line[i] != ',') {
        if (line[i] == '\0') fail("byte " + std::to_string(i + 1) + " is NUL");
        continue;
      }
      if (count < kColumns) columns_[count] = line.substr(start, i - start);
      ++count;
      start = i + 1;
    }
    if (count == kColumns) return;
    if (last_is_cut_ && count < kColumns) {
      fail("the last line is cut off in column " + column_name(count - 1));
    }
    fail("the line has " + std::to_string(count) + " columns instead of " +
         std::to_string(kColumns));
  }

  void read_header(std::string_view line) {
    split_columns(line);
    for (std::size_t column = 0; column < kColumns; ++column) {
      if (columns_[column] != column_name(column)) {
        fail("the header's column " + std::to_string(column + 1) + " is " +
             shown(columns_[column]) + " instead of " +
             shown(column_name(column)));
      }
    }
  }

  void read_row(std::string_view line) {
    split_columns(line);
    const Split split = read_split();
    const int label = read_number(kLabel, kMaxLabel);
    for (std::size_t column = 0; column < kLabel; ++column) {
      const int value = read_number(column, kMaxPixel);
      if (split == wanted_) {
        rows_.pixels.push_back(static_cast<float>(value) / kMaxPixel);
      }
    }
    if (split == wanted_) rows_.labels.push_back(label);
  }

  Split read_split() const {
    for (std::size_t i = 0; i < kSplitWords.size(); ++i) {
      if (columns_[kSplit] == kSplitWords[i]) return static_cast<Split>(i);
    }
    fail_at(kSplit, "is not train, validation or test");
  }

  int read_number(std::size_t column, int largest) const {
    const std::string_view text = columns_[column];
    int value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = end == text.data() + text.size() && !text.empty();
    if (!is_number || error == std::errc::invalid_argument) {
      fail_at(column, "is not a whole number");
    }
    if (error != std::errc{} || value < 0 || value > largest) {
      fail_at(column, "is outside 0 to " + std::to_string(largest));
    }
    return value;
  }

  [[noreturn]] void fail_at(std::size_t column,
                            const std::string& problem) const {
    fail("column " + column_name(column) + ": " + shown(columns_[column]) +
         " " + problem);
  }

  [[noreturn]] void fail(const std::string& problem) const {
    std::string where = file_.string() + ": ";
    if (row_ > 0) where += "row " + std::to_string(row_) + ": ";
    throw InputError(where + problem +
                     ": mend it, or restore the file from the repository or "
                     "with datasets/digits/make.py.");
  }

  const std::filesystem::path& file_;
  const Split wanted_;
  std::size_t row_ = 0;
  bool last_is_cut_ = false;
  std::array<std::string_view, kColumns> columns_;
  DigitRows rows_;
};

}  // namespace

DigitRows load_digits(const std::filesystem::path& file, Split split) {
  const std::string text = read_file(file);
  return Parser(file, split).parse(text);
}

}  // namespace mishap::tasks
