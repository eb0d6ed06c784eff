#include <mishap/collector/io/append_line.h>
#include <mishap/collector/io/bounded_write.h>
#include <mishap/collector/io/reserved_descriptor.h>
#include <mishap/collector/sink.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace mishap::collector {
namespace {

constexpr std::chrono::milliseconds kFallbackWait{100};

// The process may change its folder before the first record is written.
SinkOptions with_absolute_folder(SinkOptions options) {
  std::error_code error;
  const auto folder = std::filesystem::absolute(
      options.folder.empty() ? "." : options.folder, error);
  if (!error) options.folder = folder.lexically_normal().string();
  while (options.folder.size() > 1 && options.folder.back() == '/') {
    options.folder.pop_back();
  }
  return options;
}

class NoteText {
 public:
  NoteText& operator<<(std::string_view part) noexcept {
    const std::size_t size = std::min(part.size(), text_.size() - size_);
    std::copy_n(part.data(), size, text_.data() + size_);
    size_ += size;
    return *this;
  }
  std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, SinkNotes::kMaxBytes> text_{};
  std::size_t size_ = 0;
};

std::string_view file_name(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::span<const std::string_view> SinkNotes::views() noexcept {
  for (std::size_t i = 0; i < size_; ++i) {
    views_[i] = {texts_[i].data(), sizes_[i]};
  }
  return {views_.data(), size_};
}

RecordSink::RecordSink(SinkOptions options)
    : options_(with_absolute_folder(std::move(options))),
      records_path_(options_.folder + "/records.jsonl"),
      runs_path_(options_.folder + "/runs.jsonl") {
  reserve_descriptor();
}

bool RecordSink::append_record(std::string_view line) noexcept {
  return append(records_path_, line);
}

bool RecordSink::append_run(std::string_view line) noexcept {
  return append(runs_path_, line);
}

bool RecordSink::append(const std::string& path,
                        std::string_view line) noexcept {
  const AppendResult result =
      append_line(path.c_str(), line,
                  {.lock_wait = options_.lock_wait,
                   .max_file_bytes = options_.max_file_bytes,
                   .rotation = options_.rotation,
                   .fsync = options_.fsync});
  if (result.without_lock) {
    note((NoteText() << "appended to " << file_name(path)
                     << " without its lock, which another writer held")
             .view());
  }
  if (result.ok()) return true;
  fall_back(path, line, result.failed, result.error);
  return false;
}

void RecordSink::fall_back(const std::string& path, std::string_view line,
                           std::string_view what, int error) noexcept {
  failures_.fetch_add(1, std::memory_order_relaxed);
  const std::string_view reason = error_text(error);
  note((NoteText() << "cannot append to " << file_name(path) << ": " << what
                   << ": " << reason)
           .view());
  const bool over_limit = what == "limit";
  // Records without end must not fill what stderr is written to either.
  if (over_limit && full_.exchange(true)) return;
  bounded_write(options_.fallback_fd,
                {"mishap: cannot append to ", path, ": ", what, ": ", reason,
                 over_limit ? " (max_file_bytes); later lines are "
                              "dropped; this line was: "
                            : "; this line was: ",
                 line},
                kFallbackWait);
}

void RecordSink::note(std::string_view text) noexcept {
  for (Note& note : notes_) {
    int expected = Note::kFree;
    if (!note.state.compare_exchange_strong(expected, Note::kBusy)) continue;
    note.size = std::min(text.size(), note.text.size());
    std::copy_n(text.data(), note.size, note.text.data());
    note.state.store(Note::kReady);
    return;
  }
}

SinkNotes RecordSink::take_notes() noexcept {
  SinkNotes taken;
  for (Note& note : notes_) {
    int expected = Note::kReady;
    if (!note.state.compare_exchange_strong(expected, Note::kBusy)) continue;
    taken.texts_[taken.size_] = note.text;
    taken.sizes_[taken.size_++] = note.size;
    note.state.store(Note::kFree);
  }
  return taken;
}

}  // namespace mishap::collector
