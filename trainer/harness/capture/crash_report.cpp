#include <mishap/collector/crash/signal_words.h>
#include <mishap/collector/io/bounded_write.h>
#include <mishap/collector/modules.h>
#include <mishap/trainer/harness/capture/crash_report.h>
#include <unistd.h>

#include <chrono>

namespace mishap {
namespace {

constexpr std::size_t kShownFrames = 3;

using ReportText = collector::FixedText<4096>;

void add_place(ReportText& text, const collector::RecordPlace& place) noexcept {
  text << "  where    ";
  if (place.entry_point.empty()) {
    text << "outside every run";
  } else {
    text << place.entry_point << " / " << place.stage;
  }
  if (!place.hook.empty()) {
    text << ", hook " << place.hook << " of " << place.component;
  }
  const auto add = [&text](std::string_view name,
                           const std::optional<std::int64_t>& value) {
    if (value) {
      text << ", " << name << " " << *value;
    }
  };
  add("epoch", place.epoch);
  add("batch", place.batch_index);
  add("step", place.global_step);
  text << "\n";
}

void add_frames(ReportText& text, const collector::CrashStack& stack) noexcept {
  std::size_t shown = 0;
  for (const std::uintptr_t address : stack.addresses()) {
    if (shown == kShownFrames) {
      break;
    }
    text << (shown++ == 0 ? "  at       " : "           ");
    const int index = collector::find_known_module(address);
    if (index == collector::kNoModule) {
      text.hex(address);
    } else {
      const collector::Module& module =
          collector::module_at(static_cast<std::size_t>(index));
      const std::string_view path = module.path;
      text << path.substr(path.rfind('/') + 1) << " + ";
      text.hex(address - module.load_address);
    }
    text << "\n";
  }
}

// A line stays one line.
void add_message(ReportText& text, std::string_view message) noexcept {
  constexpr std::size_t kMost = 300;
  for (const char& c : message.substr(0, kMost)) {
    text << (static_cast<unsigned char>(c) < 0x20 ? std::string_view(" ")
                                                  : std::string_view(&c, 1));
  }
  text << (message.size() > kMost ? "…\n" : "\n");
}

}  // namespace

void report_crash(const collector::Record& record,
                  const collector::Crash& crash, std::string_view records_path,
                  RecordFate fate) noexcept {
  ReportText text;
  const std::string_view entry_point = record.place.entry_point;
  text << "mishap: " << (entry_point.empty() ? "the process" : entry_point)
       << " crashed: " << crash.type << ": ";
  // The filter of the user may have changed it.
  const bool is_of_record =
      crash.cause == collector::Crash::Cause::kTerminate &&
      record.kind == collector::RecordKind::kCrash &&
      !record.exceptions.empty();
  add_message(text, is_of_record ? record.exceptions.front().message
                                 : crash.message.view());
  add_place(text, record.place);
  text << "  thread   " << crash.thread.id << " " << crash.thread_name.view()
       << ", " << crash.thread.role << "\n";
  add_frames(text, crash.stack);
  if (!record.suppressed.empty()) {
    text << "  also     " << record.suppressed.front().type
         << " while it unwound the stack\n";
  }
  text << "  exit     by " << collector::signal_name(crash.dies_by) << "\n";
  text << "  record   " << record.record_id;
  if (fate == RecordFate::kWritten) {
    text << " in " << records_path << "\n  names    mishap show "
         << records_path << " --id " << record.record_id << "\n";
  } else {
    text << why_not_kept(fate) << "\n";
  }
  collector::bounded_write(STDERR_FILENO, {text.view()},
                           std::chrono::milliseconds(100));
}

}  // namespace mishap
