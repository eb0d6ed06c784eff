#include <mishap/collector/pending_slot.h>
#include <mishap/collector/record_writer.h>
#include <mishap/collector/recover_pending.h>
#include <mishap/collector/run_facts.h>
#include <mishap/collector/sink.h>
#include <mishap/collector/uuid.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "box_helpers.h"
#include "sample_records.h"

namespace mishap::collector {
namespace {

bool append(RecordSink& sink, Record record, const Uuid& run) {
  static std::array<char, kRecordBufferBytes> buffer;
  const Uuid id = make_uuid();
  record.record_id = id.view();
  record.run_id = run.view();
  record.time_unix_nano = Clock::system().unix_nano();
  record.sequence = next_sequence();
  const std::size_t size = write_record(record, buffer);
  return size > 0 && sink.append_record({buffer.data(), size});
}

// A run that is killed, so that its record comes from its slot.
void be_killed(const RecordSink& sink, const Uuid& run) {
  const pid_t child = fork();
  if (child == 0) {
    const Uuid id = make_uuid();
    Record record = samples::minimal();
    record.record_id = id.view();
    record.run_id = run.view();
    record.place.entry_point = "fit";
    PendingSlot slot;
    slot.open(sink.folder(), run.view());
    slot.hold(samples::line_of(record) + "\n");
    samples::enter(slot, {.what = samples::kTrainingStep, .step = 3});
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
}

int write_samples(const std::string& folder, int count) {
  RecordSink sink({.folder = folder});
  const Uuid run = make_uuid();
  bool ok = append(sink, samples::minimal(), run) &&
            append(sink, samples::maximal(), run) &&
            append(sink, samples::hostile(), run);
  for (int i = 0; i < count; ++i)
    ok = append(sink, samples::typical(), run) && ok;
  be_killed(sink, run);
  ok = recover_pending(sink).appended == 1 && ok;

  std::vector<char> buffer(kRunRowBufferBytes);
  const RunFacts facts = RunFacts::gather();
  RunRow real = samples::minimal_run();
  facts.fill(real);
  for (const RunRow& row :
       {samples::minimal_run(), samples::maximal_run(), real}) {
    const std::size_t size = write_run_row(row, buffer);
    ok = size > 0 && sink.append_run({buffer.data(), size}) && ok;
  }
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace mishap::collector

// Writes records and run rows of every sort to a folder, for the checks of the
// schema.
int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: write_samples FOLDER TYPICAL_RECORDS\n", stderr);
    return 2;
  }
  return mishap::collector::write_samples(argv[1], std::atoi(argv[2]));
}
