#include <mishap/collector/clock.h>
#include <mishap/collector/crash/ending_record.h>
#include <mishap/collector/label/label.h>
#include <mishap/collector/record_writer.h>
#include <mishap/collector/row_parts.h>
#include <mishap/collector/run_facts.h>
#include <mishap/trainer/harness/program/case_record.h>
#include <mishap/trainer/harness/program/catch_line.h>
#include <mishap/trainer/harness/program/command_text.h>
#include <string.h>
#include <sys/wait.h>

#include <deque>

namespace mishap::program {
namespace {

using collector::RecordFrame;
using collector::RecordKind;
using collector::StackOrigin;

RecordKind kind_of(const RunEnd& end) {
  collector::Ending ending;
  ending.wait_status = end.wait_status;
  ending.was_hung = end.was_hung;
  return collector::kind_of(ending).value_or(RecordKind::kExit);
}

// Frames with the texts that they point to.
class Frames {
 public:
  Frames(const std::vector<Place>& places, const FrameNames& names) {
    for (const Place& place : places) {
      RecordFrame frame;
      frame.address = place.offset;
      if (place.module != ModuleList::kNone) {
        frame.module = place.module;
        frame.offset = place.offset;
      }
      const auto& found = names.of(place);
      for (std::size_t i = 0; i < found.size(); ++i) {
        RecordFrame named = frame;
        named.function = found[i].function;
        named.file = found[i].file;
        if (found[i].line > 0) {
          named.line = found[i].line;
        }
        named.inlined = i + 1 < found.size();
        named.in_app = found[i].in_app;
        frames_.push_back(named);
      }
      if (found.empty()) {
        frames_.push_back(frame);
      }
    }
  }

  collector::RecordStack stack(StackOrigin origin) const {
    collector::RecordStack stack;
    stack.origin = frames_.empty() ? StackOrigin::kNone : origin;
    stack.truncated = frames_.size() >= CaseReport::kFrames;
    stack.frames = frames_;
    return stack;
  }

 private:
  std::vector<RecordFrame> frames_;
};

// A plan counts the hits of each process for itself, a sweep those of all that
// are followed.
std::string reproduce_text(const CaseResult& result,
                           const ProgramOptions& options) {
  return options.follow.empty() ? run_command_text(result.failing.spec,
                                                   options.files, options.words)
                                : options.repeat(result.failing.id);
}

class CaseRecord {
 public:
  CaseRecord(const CaseResult& result, const FrameNames& names,
             const ProgramOptions& options, std::string_view run_id)
      : result_(result),
        throw_frames_(result.story.throw_frames, names),
        hit_frames_(result.story.hit_frames, names),
        reproduce_(reproduce_text(result, options)),
        point_(name_of(result.failing.point)) {
    record_.record_id = id_.view();
    record_.run_id = run_id;
    record_.time_unix_nano = collector::Clock::system().unix_nano();
    record_.steady_nano = collector::Clock::system().steady_nano();
    record_.sequence = collector::next_sequence();
    record_.kind = kind_of(result.end);
    record_.place.entry_point = result.failing.entry_point;
    record_.thread.role = "main";
    record_.reproduce = reproduce_;
    tell_fault();
    tell_exception();
    tell_end();
    tell_notes(names);
  }

  std::string append_to(collector::RecordSink& sink) {
    labels_.put_on(record_);
    std::string line(collector::kRecordBufferBytes, '\0');
    const std::size_t size = write_record(record_, line);
    return sink.append_record(std::string_view(line).substr(0, size))
               ? std::string(id_.view())
               : std::string();
  }

 private:
  void tell_fault() {
    const auto& failing = result_.failing;
    record_.fault.status = collector::FaultStatus::kArmed;
    record_.fault.point = point_;
    record_.fault.hit = static_cast<std::int64_t>(failing.hit);
    record_.fault.action = failing.action;
    record_.fault.spec = failing.spec;
    record_.fault.seed = 0;
    thread_.role = "main";
    thread_.stack = hit_frames_.stack(StackOrigin::kFault);
    record_.threads = {&thread_, 1};
  }

  void tell_exception() {
    if (!result_.story.has_thrown) {
      return;
    }
    exception_.type = result_.story.thrown_type;
    exception_.message = result_.story.thrown_text;
    exception_.stack = throw_frames_.stack(StackOrigin::kThrow);
    record_.exceptions = {&exception_, 1};
  }

  void tell_end() {
    const int status = result_.end.wait_status;
    record_.exit.stderr_tail = result_.end.errors;
    if (!WIFSIGNALED(status)) {
      record_.exit.status = WEXITSTATUS(status);
      return;
    }
    const int signal = WTERMSIG(status);
    record_.exit.signal = signal;
    const char* const name = sigabbrev_np(signal);
    signal_ = name != nullptr ? "SIG" + std::string(name) : "";
    if (record_.kind == RecordKind::kInterrupt) {
      record_.interrupt.signal = signal_;
      record_.interrupt.number = signal;
    } else {
      record_.signal.number = signal;
      record_.signal.name = signal_;
    }
  }

  void tell_notes(const FrameNames& names) {
    notes_.push_back(
        "the case " + result_.failing.id + " is " +
        std::string(to_string(result_.verdict.outcome)) +
        (result_.verdict.note.empty() ? "" : ": " + result_.verdict.note));
    if (!result_.story.path.empty()) {
      notes_.push_back("the call was for " + result_.story.path);
    }
    if (const auto line = hit_line(result_.story, names)) {
      notes_.push_back("the fault struck at " + text_of(*line));
    }
    const bool went_on = result_.end.is_success();
    const auto line = catch_line(result_.story, names);
    if (went_on && line) {
      notes_.push_back("it ended at " + text_of(*line));
    }
    views_.assign(notes_.begin(), notes_.end());
    record_.notes = views_;
  }

  const CaseResult& result_;
  collector::Uuid id_ = collector::make_uuid();
  collector::Record record_;
  collector::Labels labels_;
  Frames throw_frames_;
  Frames hit_frames_;
  collector::RecordException exception_;
  collector::RecordThreadStack thread_;
  std::string reproduce_;
  std::string_view point_;
  std::string signal_;
  std::vector<std::string> notes_;
  std::vector<std::string_view> views_;
};

}  // namespace

CaseRecords::CaseRecords(const std::string& folder,
                         const ProgramOptions& options,
                         const ModuleList& modules)
    : sink_({.folder = folder}),
      options_(options),
      modules_(modules),
      start_unix_nanos_(collector::Clock::system().unix_nano()),
      start_steady_nanos_(collector::Clock::system().steady_nano()) {}

std::string CaseRecords::append(const CaseResult& result,
                                const FrameNames& names) {
  CaseRecord record(result, names, options_, run_id_.view());
  const std::string id = record.append_to(sink_);
  if (!id.empty()) {
    record_ids_.push_back(id);
  }
  return id;
}

void CaseRecords::finish(bool is_good) {
  const collector::RunFacts facts = collector::RunFacts::gather();
  collector::RunRow row;
  facts.fill(row);
  row.run_id = run_id_.view();
  row.entry_point = "program";
  fill_times(row, start_unix_nanos_, start_steady_nanos_);
  row.outcome = is_good ? collector::RunOutcome::kSuccess
                        : collector::RunOutcome::kFailed;
  const std::vector<std::string_view> words(options_.words.begin(),
                                            options_.words.end());
  row.command_line = words;
  std::vector<collector::RunModule> modules;
  for (const ModuleList::Module& module : modules_.all()) {
    modules.push_back({module.path, module.build_id, 0, 0});
  }
  row.modules = modules;
  const std::vector<std::string_view> ids(record_ids_.begin(),
                                          record_ids_.end());
  row.record_ids = ids;
  std::string line(collector::kRunRowBufferBytes, '\0');
  const std::size_t size = write_run_row(row, line);
  sink_.append_run(std::string_view(line).substr(0, size));
}

}  // namespace mishap::program
