#pragma once

#include <mishap/trainer/engine/logger.h>

#include <filesystem>
#include <string>

namespace mishap {

/// Writes `metrics.jsonl` into a folder: one JSON object a line, added to what
/// is there, so that a resumed run goes on in the same file.
///
///     {"kind":"hyperparameters","values":{"max_epochs":"3"}}
///     {"kind":"metrics","stage":"train","epoch":0,"batch":9,"step":10,
///      "values":{"loss":null},"non_finite":{"loss":"NaN"}}
///     {"kind":"end","word":"success"}
///
/// (each in one line). Counters are zero-based, and null where the run has not
/// got there; a batch of null marks what an epoch came to. A value that is not
/// finite is null, with "NaN", "Infinity" or "-Infinity" under its name in
/// "non_finite". A name that is no UTF-8 has U+FFFD for what is not.
///
/// Construction touches nothing; the folder is made when a run begins. Lines
/// wait in memory until save(). One logger at a time may write to the file.
class JsonlLogger final : public Logger {
 public:
  explicit JsonlLogger(std::filesystem::path folder);

  /// Throws InputError when the folder cannot be made.
  void experiment() override;
  void log_hyperparams(const Hyperparameters& parameters) override;
  void log_metrics(const Metrics& metrics, const Place& place) override;
  /// Throws FileError, a std::system_error, when the lines cannot be written;
  /// then the file is as it was, and the next save() writes them.
  void save() override;
  /// Saves too, and throws as save() does.
  void finalize(FinalWord word) override;

  std::filesystem::path file() const { return folder_ / "metrics.jsonl"; }

 private:
  std::filesystem::path folder_;
  bool opened_ = false;
  std::string waiting_;
};

}  // namespace mishap
