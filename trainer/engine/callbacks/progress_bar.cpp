#include <cxxabi.h>
#include <mishap/trainer/engine/callbacks/progress_bar.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>
#include <utility>

namespace mishap {
namespace {

std::string progress_number(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

bool starts_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

std::size_t columns_of(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), starts_character));
}

// Its first characters, never a part of one.
std::string_view cut_to(std::string_view text, std::size_t columns) noexcept {
  std::size_t used = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (starts_character(text[i]) && used++ == columns) {
      return text.substr(0, i);
    }
  }
  return text;
}

// A name with a newline in it would leave the line.
void replace_controls(std::string& text) noexcept {
  std::replace_if(
      text.begin(), text.end(),
      [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
}

}  // namespace

ProgressBar::ProgressBar(ProgressBarOptions options)
    : options_(std::move(options)) {}

void ProgressBar::setup(Session&) {
  shows_ = options_.stream != nullptr || isatty(STDERR_FILENO) == 1;
}

void ProgressBar::teardown(Session&) { end_line(); }

void ProgressBar::on_exception(const ErrorEvent&) { end_line(); }

void ProgressBar::on_train_epoch_start(Session& session) {
  training_ = begin(session.batches_in_epoch());
}

void ProgressBar::on_train_batch_end(Session& session, const torch::Tensor&,
                                     const Batch&, std::int64_t index) {
  advance(session, training_, index);
}

void ProgressBar::on_train_epoch_end(Session& session) {
  end(session, training_);
}

void ProgressBar::on_validation_start(Session&) { evaluation_ = begin(-1); }

void ProgressBar::on_validation_batch_end(Session& session, const Batch&,
                                          std::int64_t index) {
  advance(session, evaluation_, index);
}

void ProgressBar::on_validation_end(Session& session) {
  end(session, evaluation_);
  // The training stood still meanwhile.
  training_.start += Clock::now() - evaluation_.start;
}

void ProgressBar::on_test_start(Session&) { evaluation_ = begin(-1); }

void ProgressBar::on_test_batch_end(Session& session, const Batch&,
                                    std::int64_t index) {
  advance(session, evaluation_, index);
}

void ProgressBar::on_test_end(Session& session) { end(session, evaluation_); }

void ProgressBar::on_predict_start(Session&) { evaluation_ = begin(-1); }

void ProgressBar::on_predict_batch_end(Session& session, const torch::Tensor&,
                                       const Batch&, std::int64_t index) {
  advance(session, evaluation_, index);
}

void ProgressBar::on_predict_end(Session& session) {
  end(session, evaluation_);
}

ProgressBar::Pass ProgressBar::begin(std::int64_t total) {
  Pass pass;
  pass.start = Clock::now();
  pass.total = total;
  return pass;
}

void ProgressBar::advance(Session& session, Pass& pass, std::int64_t index) {
  ++pass.counted;
  pass.done = index + 1;
  if (!shows_) {
    return;
  }
  const Clock::time_point now = Clock::now();
  if (now >= next_) {
    line_ = text_of(session, pass, now);
    draw(now);
  }
}

void ProgressBar::end(Session& session, const Pass& pass) {
  if (!shows_) {
    return;
  }
  const Clock::time_point now = Clock::now();
  line_ = text_of(session, pass, now);
  drawn_ = false;
  if (now >= next_) {
    draw(now);
  }
}

void ProgressBar::end_line() {
  // What a pass came to may have waited for its turn.
  if (!std::exchange(drawn_, true)) {
    draw(Clock::now());
  }
  if (std::exchange(open_, false)) {
    write("\n");
  }
  used_ = 0;
}

std::string ProgressBar::text_of(Session& session, const Pass& pass,
                                 Clock::time_point now) const {
  const Place& place = session.place();
  std::string text(session.entry_point());
  if (to_string(place.stage) != session.entry_point()) {
    text += ' ';
    text += to_string(place.stage);
  }
  if (place.epoch >= 0) {
    text += "  epoch " + std::to_string(place.epoch);
  }
  text += "  " + std::to_string(pass.done);
  if (pass.total >= 0) {
    text += '/' + std::to_string(pass.total);
  }
  const double seconds =
      std::chrono::duration<double>(now - pass.start).count();
  if (pass.counted > 0 && seconds > 0) {
    text += progress_number("  %.1f batches/s",
                            static_cast<double>(pass.counted) / seconds);
  }
  for (const auto& [name, value] : session.shown_metrics()) {
    text += "  " + name + progress_number("=%.4g", value);
  }
  replace_controls(text);
  return text;
}

void ProgressBar::draw(Clock::time_point now) {
  drawn_ = true;
  next_ = now + options_.interval;
  // In the last column some terminals go on to the next line.
  const std::size_t room = std::max<std::size_t>(columns(), 1) - 1;
  const std::string_view shown = cut_to(line_, room);
  const std::size_t used = columns_of(shown);
  std::string text = "\r";
  text += shown;
  const std::size_t before = std::min(used_, room);
  text.append(before > used ? before - used : 0, ' ');
  used_ = used;
  open_ = true;
  write(text);
}

void ProgressBar::write(std::string_view text) {
  if (options_.stream == nullptr) {
    [[maybe_unused]] const ssize_t ignored =
        ::write(STDERR_FILENO, text.data(), text.size());
    return;
  }
  try {
    *options_.stream << text << std::flush;
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    // A run does not fail for want of a progress bar.
  }
}

std::size_t ProgressBar::columns() const noexcept {
  if (options_.width) {
    return *options_.width;
  }
  winsize size{};
  const bool known = options_.stream == nullptr &&
                     ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 &&
                     size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace mishap
