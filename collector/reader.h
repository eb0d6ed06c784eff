#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mishap::collector {

/// A line that is no record, or a file that cannot be read. One sentence that
/// begins with `file:line:` or `file:`.
class BadRecord : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One line of `records.jsonl` or `runs.jsonl`, read. Values are named by JSON
/// pointers: `/exceptions/0/stack/frames/3/function`.
class StoredRecord {
 public:
  /// Throws BadRecord when the text is not one JSON object.
  static StoredRecord parse(std::string line);

  /// The line as it stands in the file, without its newline.
  const std::string& line() const noexcept { return line_; }
  /// The record's id, or the run's in a run row; empty when it has neither.
  std::string id() const;

  /// Nothing when the value is null, absent or of another type. A 64-bit value
  /// that is stored as a text of digits is read by integer() too.
  std::optional<std::string> text(std::string_view pointer) const;
  std::optional<std::int64_t> integer(std::string_view pointer) const;
  std::optional<double> number(std::string_view pointer) const;
  std::optional<bool> flag(std::string_view pointer) const;
  /// Items of a list or keys of an object; 0 when it is neither.
  std::size_t size(std::string_view pointer) const;

 private:
  struct Tree;
  explicit StoredRecord(std::string line);

  std::string line_;
  std::shared_ptr<const Tree> tree_;
};

/// Reads records one after another.
///
///     std::ifstream file(path);
///     RecordReader reader(file, path);
///     while (auto record = reader.next()) use(*record);
///
/// A second record with the same id is dropped; empty lines are passed over; a
/// last line without a newline that is no record is what a dying writer left,
/// and is passed over too.
class RecordReader {
 public:
  /// `name` stands in errors; "-" is called standard input.
  RecordReader(std::istream& input, std::string name);

  /// The next record, or nothing at the end. Throws BadRecord for a line that
  /// is none; the call after it goes on with the next line.
  std::optional<StoredRecord> next();

  /// Number of the line read last, from 1.
  std::size_t line_number() const noexcept { return line_number_; }
  std::size_t duplicates() const noexcept { return duplicates_; }
  /// Whether the last line was torn.
  bool torn() const noexcept { return torn_; }

 private:
  std::istream& input_;
  std::string name_;
  std::size_t line_number_ = 0;
  std::size_t duplicates_ = 0;
  bool torn_ = false;
  std::set<std::string> seen_;
};

}  // namespace mishap::collector
