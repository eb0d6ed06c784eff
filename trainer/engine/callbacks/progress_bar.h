#pragma once

#include <mishap/trainer/engine/callback.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace mishap {

/// Where and how often a ProgressBar writes.
struct ProgressBarOptions {
  /// Written to whatever it is; must outlive the callback. Unset: stderr, if it
  /// is a terminal.
  std::ostream* stream = nullptr;
  /// Columns of the line; unset: the terminal's, else 80.
  std::optional<std::size_t> width = std::nullopt;
  /// Time from one refresh to the next, at least.
  std::chrono::milliseconds interval{100};
};

/// Shows how far a run is, in one line that is written over again: what it
/// does, epoch (zero-based), batches done, of how many where that is known,
/// batches a second, and what was logged with LogOptions::progress_bar.
///
///     fit train  epoch 3  12/100  45.2 batches/s  loss=0.1234
///
/// The line ends with the run, however that ends. Output that fails is ignored.
/// Between two refreshes a batch costs one look at the clock.
class ProgressBar final : public Callback {
 public:
  explicit ProgressBar(ProgressBarOptions options = {});

  void setup(Session& session) override;
  void teardown(Session& session) override;
  void on_exception(const ErrorEvent& event) override;

  void on_train_epoch_start(Session& session) override;
  void on_train_epoch_end(Session& session) override;
  void on_train_batch_end(Session& session, const torch::Tensor& loss,
                          const Batch& batch, std::int64_t index) override;

  void on_validation_start(Session& session) override;
  void on_validation_end(Session& session) override;
  void on_validation_batch_end(Session& session, const Batch& batch,
                               std::int64_t index) override;

  void on_test_start(Session& session) override;
  void on_test_end(Session& session) override;
  void on_test_batch_end(Session& session, const Batch& batch,
                         std::int64_t index) override;

  void on_predict_start(Session& session) override;
  void on_predict_end(Session& session) override;
  void on_predict_batch_end(Session& session, const torch::Tensor& prediction,
                            const Batch& batch, std::int64_t index) override;

 private:
  using Clock = std::chrono::steady_clock;

  // One pass over the data.
  struct Pass {
    Clock::time_point start;
    // Since `start`; a resumed epoch has more behind it.
    std::int64_t counted = 0;
    std::int64_t done = 0;
    std::int64_t total = -1;
  };

  static Pass begin(std::int64_t total);
  void advance(Session& session, Pass& pass, std::int64_t index);
  void end(Session& session, const Pass& pass);
  void end_line();

  std::string text_of(Session& session, const Pass& pass,
                      Clock::time_point now) const;
  void draw(Clock::time_point now);
  void write(std::string_view text);
  std::size_t columns() const noexcept;

  ProgressBarOptions options_;
  bool shows_ = false;
  Pass training_;
  Pass evaluation_;
  Clock::time_point next_;
  // What the line is to say, and whether it says so.
  std::string line_;
  bool drawn_ = true;
  // A line was begun, of so many columns.
  bool open_ = false;
  std::size_t used_ = 0;
};

}  // namespace mishap
