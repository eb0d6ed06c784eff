#include <mishap/collector/io/bounded_write.h>
#include <mishap/collector/redact_text.h>
#include <mishap/trainer/harness/capture/failure_report.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>

namespace mishap {
namespace {

constexpr std::size_t kMaxFrames = 3;
constexpr std::size_t kMaxMessage = 300;

// Not through stdio: a thread that hangs may have its lock.
void say(std::string_view text) noexcept {
  collector::bounded_write(STDERR_FILENO, {text},
                           std::chrono::milliseconds(100));
}

std::string one_line(std::string_view message) {
  const std::string text =
      collector::redacted(message.substr(0, 2 * kMaxMessage));
  std::string line;
  for (const char c : std::string_view(text).substr(0, kMaxMessage)) {
    line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return text.size() > kMaxMessage ? line + "…" : line;
}

void add_counter(std::string& text, std::string_view name,
                 const std::optional<std::int64_t>& value) {
  if (value) {
    text += ", ";
    text += name;
    text += ' ';
    text += std::to_string(*value);
  }
}

std::string where(const collector::RecordPlace& place) {
  std::string text(place.entry_point);
  text += " / ";
  text += place.stage;
  if (!place.hook.empty()) {
    text += ", hook ";
    text += place.hook;
    text += " of ";
    text += place.component;
  }
  add_counter(text, "epoch", place.epoch);
  add_counter(text, "batch", place.batch_index);
  add_counter(text, "step", place.global_step);
  return text;
}

std::string frames(const collector::Record& record) {
  std::string text;
  std::size_t shown = 0;
  for (auto it = record.exceptions.rbegin(); it != record.exceptions.rend();
       ++it) {
    for (const collector::RecordFrame& frame : it->stack.frames) {
      if (frame.in_app != true || shown == kMaxFrames) {
        continue;
      }
      text += shown++ == 0 ? "  in       " : "           ";
      text += frame.function.empty() ? "?" : frame.function;
      if (!frame.file.empty()) {
        text += " (";
        text += frame.file.substr(frame.file.rfind('/') + 1);
        if (frame.line) {
          text += ':' + std::to_string(*frame.line);
        }
        text += ')';
      }
      text += '\n';
    }
    if (shown > 0) {
      break;
    }
  }
  return text;
}

std::string_view what_happened(const collector::Record& record) {
  switch (record.kind) {
    case collector::RecordKind::kInterrupt:
      return " was interrupted";
    case collector::RecordKind::kHang:
      return " hangs";
    case collector::RecordKind::kExit:
      return " was left by the end of the process";
    default:
      return " failed";
  }
}

// The last piece of cleanup that passed its limit.
std::string late_piece(const collector::Record& record) {
  constexpr std::int64_t kMicrosPerMilli = 1'000;
  std::string text;
  for (const collector::RecordCleanup& piece : record.cleanup) {
    if (piece.outcome == collector::CleanupOutcome::kTimedOut) {
      text = "  late     cleanup step ";
      text += piece.step;
      if (!piece.component.empty()) {
        text += " of ";
        text += piece.component;
      }
      text += ", ";
      text += std::to_string(piece.micros / kMicrosPerMilli);
      text += " ms\n";
    }
  }
  return text;
}

std::string whereabouts(RecordFate fate, std::string_view records_path) {
  return fate == RecordFate::kWritten ? " in " + std::string(records_path)
                                      : std::string(why_not_kept(fate));
}

std::string report(const collector::Record& record,
                   std::string_view records_path, RecordFate fate) {
  std::string text = "mishap: ";
  text += record.place.entry_point;
  text += what_happened(record);
  if (!record.exceptions.empty()) {
    const collector::RecordException& outermost = record.exceptions.front();
    text += ": ";
    text += outermost.type;
    if (!outermost.message.empty()) {
      text += ": " + one_line(outermost.message);
    }
  }
  text += "\n  where    " + where(record.place) + '\n';
  if (record.exceptions.size() > 1) {
    const collector::RecordException& cause = record.exceptions.back();
    text += "  cause    ";
    text += cause.type;
    if (!cause.message.empty()) {
      text += ": " + one_line(cause.message);
    }
    text += '\n';
  }
  text += frames(record);
  if (!record.suppressed.empty()) {
    text += "  also     " + std::to_string(record.suppressed.size()) +
            " more errors during cleanup\n";
  }
  text += late_piece(record);
  text += "  exit     " + std::to_string(exit_status_of(record));
  text += record.exit.status ? "\n" : " unless the caller handles it\n";
  text += "  record   " + std::string(record.record_id) +
          whereabouts(fate, records_path) + '\n';
  if (!record.reproduce.empty()) {
    text +=
        "  repeat   " +
        collector::redacted(record.reproduce, collector::TextKind::kCommand) +
        '\n';
  }
  return text;
}

}  // namespace

std::string_view why_not_kept(RecordFate fate) noexcept {
  switch (fate) {
    case RecordFate::kCounted:
      return " was counted only: there are enough like it";
    case RecordFate::kDropped:
      return " was dropped by the filter";
    default:
      return " could not be kept: see above";
  }
}

int exit_status_of(const collector::Record& record) noexcept {
  if (record.exit.status) {
    return *record.exit.status;
  }
  if (record.kind == collector::RecordKind::kInterrupt &&
      record.interrupt.number) {
    return 128 + *record.interrupt.number;
  }
  if (!record.exceptions.empty()) {
    const std::string_view type = record.exceptions.front().type;
    if (type == "mishap::InputError") {
      return 2;
    }
    if (type == "mishap::ContractViolated") {
      return 3;
    }
  }
  return 1;
}

void report_failure(const collector::Record& record,
                    std::string_view records_path, RecordFate fate) noexcept {
  try {
    say(report(record, records_path, fate));
  } catch (...) {
    say("mishap: a run failed; no memory to say more\n");
  }
}

}  // namespace mishap
