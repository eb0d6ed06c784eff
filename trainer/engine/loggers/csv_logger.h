#pragma once

#include <mishap/trainer/engine/logger.h>

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace mishap {

/// Writes `metrics.csv` into a folder: one row for each time something was
/// logged, with stage, epoch, step and a column for each name.
///
/// Construction touches nothing; the folder is made when a run begins. Runs of
/// one object share the file; a file that an earlier object left is replaced,
/// so give each experiment a folder of its own. A new column rewrites the file
/// beside the old one and renames it, so that a reader never sees half.
class CsvLogger final : public Logger {
 public:
  explicit CsvLogger(std::filesystem::path folder);

  /// Throws InputError when the folder cannot be made.
  void experiment() override;
  void log_metrics(const Metrics& metrics, const Place& place) override;
  /// Throws std::system_error when the file cannot be written.
  void save() override;
  void finalize(FinalWord word) override;

  std::filesystem::path file() const { return folder_ / "metrics.csv"; }

 private:
  struct Row {
    Place place;
    Metrics metrics;
  };

  std::string header() const;
  std::string text_of(const Row& row) const;
  void rewrite();
  void append();

  std::filesystem::path folder_;
  std::set<std::string> columns_;
  std::vector<Row> rows_;
  std::size_t rows_saved_ = 0;
  bool rewrite_needed_ = true;
};

}  // namespace mishap
