#include <mishap/collector/clock.h>
#include <mishap/collector/demangle.h>
#include <mishap/collector/modules.h>
#include <mishap/collector/record/fold_frames.h>
#include <mishap/collector/resolve/symbolize.h>
#include <mishap/collector/row_parts.h>
#include <mishap/collector/run_facts.h>
#include <mishap/faultinject/active.h>
#include <mishap/trainer/harness/preload/inside.h>
#include <mishap/trainer/harness/preload/preload_records.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <span>
#include <vector>

namespace mishap::preload {

using collector::Record;
using collector::RecordException;
using collector::RecordFrame;
using collector::RecordStack;

PreloadRecords::PreloadRecords(const std::string& folder, bool is_watched)
    : sink_({.folder = folder}),
      run_id_(collector::make_uuid()),
      record_id_(collector::make_uuid()),
      start_unix_nanos_(collector::Clock::system().unix_nano()),
      start_steady_nanos_(collector::Clock::system().steady_nano()) {
  if (is_watched) {
    slot_.open(folder, run_id_.view());
  }
}

void PreloadRecords::begin(collector::RecordKind kind) noexcept {
  record_ = {};
  frame_count_ = 0;
  repeat_count_ = 0;
  record_.record_id = record_id_.view();
  record_.run_id = run_id_.view();
  record_.kind = kind;
  record_.time_unix_nano = collector::Clock::system().unix_nano();
  record_.steady_nano = collector::Clock::system().steady_nano();
  record_.sequence = collector::next_sequence();
  record_.process.pid = getpid();
}

std::optional<std::uint32_t> PreloadRecords::row_module(int module) noexcept {
  if (module == collector::kNoModule) {
    return std::nullopt;
  }
  const auto end = modules_.begin() + static_cast<long>(module_count_);
  const auto found = std::find(modules_.begin(), end, module);
  if (found == end) {
    if (module_count_ == modules_.size()) {
      return std::nullopt;
    }
    modules_[module_count_++] = module;
  }
  return static_cast<std::uint32_t>(found - modules_.begin());
}

std::optional<std::uint32_t> PreloadRecords::row_module(int module,
                                                        void* self) {
  return static_cast<PreloadRecords*>(self)->row_module(module);
}

RecordStack PreloadRecords::stack_of(const collector::RawTrace& trace,
                                     collector::StackOrigin origin) noexcept {
  std::array<collector::Frame, kFrames> found;
  const std::size_t room = std::min(kFrames, frames_.size() - frame_count_);
  const collector::FrameCount count =
      locate(trace, std::span(found).first(room));
  RecordFrame* const first = frames_.data() + frame_count_;
  for (std::size_t i = 0; i < count.frames; ++i) {
    RecordFrame& out = first[i];
    out = {};
    out.address = found[i].address;
    out.module = row_module(found[i].module);
    if (found[i].module != collector::kNoModule) {
      out.offset = found[i].offset;
    }
  }
  const std::span<collector::RecordRepeat> repeats =
      std::span(repeats_).subspan(repeat_count_);
  const collector::FoldedFrames folded =
      collector::fold_frames({first, count.frames}, repeats);
  frame_count_ += folded.frames;
  repeat_count_ += folded.repeats;
  RecordStack stack;
  stack.origin = origin;
  stack.truncated = count.truncated;
  stack.frames = {first, folded.frames};
  stack.repeats = repeats.first(folded.repeats);
  return stack;
}

RecordStack PreloadRecords::stack_of(const collector::Crash& crash) noexcept {
  const RecordStack stack =
      fill_stack(crash, std::span(frames_).subspan(frame_count_),
                 std::span(repeats_).subspan(repeat_count_), row_module, this);
  frame_count_ += stack.frames.size();
  repeat_count_ += stack.repeats.size();
  return stack;
}

void PreloadRecords::fill(const collector::Crash& crash) noexcept {
  begin(collector::RecordKind::kCrash);
  fill_crash(crash, record_);
  std::size_t count = 0;
  if (crash.error != nullptr) {
    chain_.describe(*crash.error);
    for (const collector::ChainEntry& entry : chain_.entries()) {
      RecordException& out = exceptions_[count];
      out = {};
      out.type = entry.type;
      if (entry.has_message && !entry.what_was_null) {
        out.message = entry.message;
      }
      out.message_size = entry.message_size;
      out.message_hash = entry.message_hash;
      out.native_backtrace = entry.native_backtrace;
      out.code = entry.code;
      if (entry.site) {
        out.stack = stack_of(entry.site->trace, collector::StackOrigin::kThrow);
      } else if (count == 0) {
        out.stack = stack_of(crash);
      }
      ++count;
    }
  }
  if (count == 0) {
    RecordException& only = exceptions_[count++];
    only = {};
    only.type = crash.type;
    only.message = crash.message.view();
    only.stack = stack_of(crash);
  }
  record_.exceptions = std::span(exceptions_).first(count);
}

void PreloadRecords::fill(const ThrowNote& note) noexcept {
  RecordException& only = exceptions_.front();
  only = {};
  try {
    type_ = collector::type_name(*note.type);
    only.type = type_;
  } catch (const std::exception&) {
    only.type = note.type->name();
  }
  if (note.has_message) {
    only.message = note.message();
  }
  only.stack = stack_of(note.trace, collector::StackOrigin::kThrow);
  record_.exceptions = {&only, 1};
  record_.thread.id = note.thread_id;
  record_.thread.role = note.thread_id == getpid() ? "main" : "worker";
}

void PreloadRecords::tell(const collector::Crash& crash) noexcept {
  const Inside inside;
  fill(crash);
  leave();
  // What was loaded since the start is unknown, and asking for it takes locks
  // and memory: only now, when the record is safe.
  collector::refresh_modules();
  fill(crash);
  if (slot_.is_open()) {
    leave();
  }
  append_row(collector::RunOutcome::kCrashed);
}

void PreloadRecords::tell_exit(int status) noexcept {
  const bool has_thrown = throws_noted() != 0 && last_throw(thrown_);
  if (status == 0 || (!has_thrown && faultinject::firing_sequence() == 0)) {
    slot_.close();
    return;
  }
  begin(collector::RecordKind::kExit);
  record_.process_phase = collector::ProcessPhase::kExiting;
  record_.exit.status = status;
  if (has_thrown) {
    fill(thrown_);
    notes_.front() =
        "the exception is the last one that was thrown in this process, which "
        "may have caught it";
    record_.notes = notes_;
  }
  leave();
  append_row(collector::RunOutcome::kFailed);
}

void PreloadRecords::fill_fault() noexcept {
  collector::RecordFault& fault = record_.fault;
  if (!faultinject::last_fired(firing_)) {
    fault.status = faultinject::active() ? collector::FaultStatus::kArmed
                                         : collector::FaultStatus::kDormant;
    return;
  }
  fault.status = collector::FaultStatus::kArmed;
  fault.point = firing_.point;
  fault.hit = static_cast<std::int64_t>(firing_.hit);
  fault.action = firing_.action;
  fault.spec = firing_.spec;
  fault.seed = firing_.seed;
}

void PreloadRecords::leave() noexcept {
  fill_fault();
  labels_.put_on(record_);
  const std::size_t size = write_record(record_, line_);
  const std::string_view line(line_.data(), size);
  if (slot_.is_open()) {
    slot_.freeze(line);
  } else {
    sink_.append_record(line);
  }
}

void PreloadRecords::append_row(collector::RunOutcome outcome) noexcept {
  try {
    const collector::RunFacts facts = collector::RunFacts::gather();
    collector::RunRow row;
    facts.fill(row);
    row.run_id = run_id_.view();
    fill_times(row, start_unix_nanos_, start_steady_nanos_);
    row.outcome = outcome;
    const collector::RowModules modules{
        std::span(modules_).first(module_count_)};
    row.modules = modules.view();
    const std::string_view record_id = record_id_.view();
    row.record_ids = {&record_id, 1};
    std::string line(collector::kRunRowBufferBytes, '\0');
    const std::size_t size = write_run_row(row, line);
    sink_.append_run(std::string_view(line).substr(0, size));
  } catch (...) {
    // A row is a convenience: for want of memory there is none.
  }
}

}  // namespace mishap::preload
