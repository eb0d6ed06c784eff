#include <mishap/collector/io/bounded_write.h>
#include <mishap/collector/record_caps.h>
#include <mishap/collector/record_writer.h>
#include <mishap/trainer/harness/capture/capture_storage.h>
#include <mishap/trainer/harness/capture/kept_record.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace mishap {
namespace {

constinit collector::RecordCounter written_so_far;

// What makes records of one kind: the group where it is known.
class KindOfRecord {
 public:
  explicit KindOfRecord(const collector::Record& record) noexcept {
    if (!record.fingerprint.hash.empty()) {
      add(record.fingerprint.hash);
      return;
    }
    for (const collector::RecordException& exception : record.exceptions) {
      add(exception.type);
    }
    add(record.place.entry_point);
    add(record.place.stage);
    add(record.place.hook);
    add(record.place.component);
  }
  std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  void add(std::string_view part) noexcept {
    const std::size_t room = text_.size() - size_;
    if (room == 0) {
      return;
    }
    const std::size_t size = part.size() < room ? part.size() : room - 1;
    part.copy(text_.data() + size_, size);
    size_ += size;
    text_[size_++] = '\n';
  }

  std::array<char, 1024> text_{};
  std::size_t size_ = 0;
};

// "42 records were left out by now, ..." for the notes.
class LeftOut {
 public:
  explicit LeftOut(const collector::RecordCount& count) noexcept {
    const int size = std::snprintf(
        text_.data(), text_.size(),
        "this is number %llu of its kind; of all kinds %llu records of this "
        "process were counted only",
        static_cast<unsigned long long>(count.of_the_key),
        static_cast<unsigned long long>(count.left_out));
    size_ = size < 0 ? 0 : static_cast<std::size_t>(size);
  }
  std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, 160> text_{};
  std::size_t size_ = 0;
};

void say_that_some_are_left_out() noexcept {
  collector::bounded_write(
      STDERR_FILENO,
      {"mishap: there are enough records of this kind; from now on they are "
       "counted, and each is written whose number has doubled "
       "(CaptureOptions::caps)\n"},
      std::chrono::milliseconds(100));
}

}  // namespace

RecordFate append_unless_left_out(CaptureStorage& storage,
                                  const CaptureOptions& options,
                                  collector::RecordSink& sink,
                                  const RecordFilter& filter) noexcept {
  bool filter_failed = false;
  if (apply_filter(filter, storage.record, storage, filter_failed) ==
      FilterVerdict::kDrop) {
    return RecordFate::kDropped;
  }
  collector::Record& record = storage.record;
  storage.labels.put_on(record);
  const collector::RecordCount count =
      written_so_far.count(KindOfRecord(record).view(), options.caps);
  if (!count.is_kept) {
    if (count.is_first_left_out) {
      say_that_some_are_left_out();
    }
    return RecordFate::kCounted;
  }
  const LeftOut left_out(count);
  std::array<std::string_view, collector::SinkNotes::kMax + 2> notes;
  std::size_t size = record.notes.size();
  std::copy_n(record.notes.begin(), size, notes.begin());
  if (count.left_out > 0) {
    notes[size++] = left_out.view();
  }
  if (filter_failed) {
    notes[size++] = kFilterThrew;
  }
  record.notes = {notes.data(), size};
  record.occurrence_count = static_cast<std::int64_t>(count.of_the_key);
  const std::size_t bytes = write_record(record, storage.line);
  record.notes = {};
  return sink.append_record({storage.line.data(), bytes}) ? RecordFate::kWritten
                                                          : RecordFate::kLost;
}

}  // namespace mishap
