#include <mishap/collector/io/bounded_write.h>
#include <mishap/trainer/harness/capture/hang_line.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace mishap {
namespace {

// A few lines in place; what does not fit is cut.
class Lines {
 public:
  Lines& operator<<(std::string_view text) noexcept {
    const std::size_t size = std::min(text.size(), text_.size() - size_);
    std::copy_n(text.data(), size, text_.data() + size_);
    size_ += size;
    return *this;
  }
  Lines& operator<<(std::int64_t number) noexcept {
    std::array<char, 24> digits{};
    const auto [end, error] =
        std::to_chars(digits.data(), digits.data() + digits.size(), number);
    static_cast<void>(error);
    return *this << std::string_view(
               digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, 8192> text_;
  std::size_t size_ = 0;
};

void add_counter(Lines& lines, std::string_view name,
                 const std::optional<std::int64_t>& value) noexcept {
  if (value) {
    lines << ", " << name << " " << *value;
  }
}

void add_time(Lines& lines, std::chrono::nanoseconds time) noexcept {
  const std::int64_t tenths = time.count() / 100'000'000;
  lines << tenths / 10 << "." << tenths % 10 << " s";
}

void add_what(Lines& lines, const collector::Record& record,
              const HangCause& cause) noexcept {
  lines << "mishap: " << record.place.entry_point;
  if (record.kind != collector::RecordKind::kHang) {
    lines << (record.threads.empty() ? " was left by the end of the process"
                                     : " had failed, and hangs in its cleanup");
  } else if (cause.signal) {
    lines << " hangs: " << signals::name(cause.signal->signal)
          << " came and no safe point was reached for ";
    add_time(lines, cause.idle);
  } else {
    lines << " hangs: no hook began or ended for ";
    add_time(lines, cause.idle);
  }
  lines << "\n";
}

void add_where(Lines& lines, const collector::RecordPlace& place) noexcept {
  lines << "  where    " << place.entry_point << " / " << place.stage;
  if (!place.hook.empty()) {
    lines << ", hook " << place.hook << " of " << place.component;
  }
  add_counter(lines, "epoch", place.epoch);
  add_counter(lines, "batch", place.batch_index);
  add_counter(lines, "step", place.global_step);
  lines << "\n";
}

void add_threads(Lines& lines, const collector::Record& record) noexcept {
  if (record.threads.empty()) {
    return;
  }
  const auto silent = std::ranges::count_if(
      record.threads,
      [](const auto& thread) { return thread.stack.frames.empty(); });
  lines << "  threads  " << static_cast<std::int64_t>(record.threads.size());
  if (silent > 0) {
    lines << ", " << static_cast<std::int64_t>(silent) << " without a stack";
  }
  lines << "\n";
}

}  // namespace

void report_hang(const collector::Record& record, const HangCause& cause,
                 std::string_view records_path, RecordFate fate) noexcept {
  Lines lines;
  add_what(lines, record, cause);
  add_where(lines, record.place);
  add_threads(lines, record);
  if (cause.exit_status) {
    lines << "  exit     " << *cause.exit_status << "\n";
  } else {
    lines << "  then     it cannot be cancelled, the wait goes on\n";
  }
  lines << "  record   " << record.record_id;
  if (fate == RecordFate::kWritten) {
    lines << " in " << records_path << "\n";
  } else {
    lines << why_not_kept(fate) << "\n";
  }
  if (!record.reproduce.empty()) {
    lines << "  repeat   " << record.reproduce << "\n";
  }
  collector::bounded_write(STDERR_FILENO, {lines.view()},
                           std::chrono::milliseconds(100));
}

}  // namespace mishap
