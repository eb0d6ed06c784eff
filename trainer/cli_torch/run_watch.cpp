#include <mishap/trainer/cli_torch/run_watch.h>
#include <mishap/trainer/engine/options.h>
#include <mishap/trainer/engine/session.h>

#include <string>

namespace mishap::app {
namespace {

std::string progress(const Run& run, const Session* session) {
  const Place& place = run.place();
  std::string text(run.entry_point());
  text += "  ";
  text += to_string(place.stage);
  if (place.epoch >= 0) {
    text += "  epoch " + std::to_string(place.epoch + 1);
    if (session != nullptr) {
      text += " of " + std::to_string(session->options().max_epochs);
    }
  }
  if (place.batch >= 0) {
    text += "  batch " + std::to_string(place.batch + 1);
  }
  if (session != nullptr) {
    for (const auto& [name, value] : session->metrics()) {
      text += "  " + name + ' ' + std::to_string(value);
    }
  }
  return text;
}

}  // namespace

void RunWatch::before(Run& run) {
  if (run.place().hook == Hook::kLoadBatch && line_.is_due()) {
    line_.show(progress(run, Session::current()));
  }
}

void RunWatch::after(Run& run) {
  if (run.place().hook == Hook::kOnFitEnd && Session::current() != nullptr) {
    fit_metrics_ = Session::current()->metrics();
  }
}

void RunWatch::on_failure(Run&, const Failure&) noexcept { line_.clear(); }

void RunWatch::on_close(Run&, const Failure*) noexcept { line_.clear(); }

}  // namespace mishap::app
