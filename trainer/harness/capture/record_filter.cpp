#include <mishap/trainer/harness/capture/capture_storage.h>
#include <mishap/trainer/harness/capture/record_filter.h>

namespace mishap {

void take_texts_out(collector::Record& record,
                    CaptureStorage& storage) noexcept {
  for (collector::RecordException& exception : storage.exceptions) {
    exception.message = {};
    exception.message_hash = 0;
    exception.native_backtrace = {};
  }
  for (collector::RecordSuppressed& error : storage.suppressed) {
    error.message = {};
  }
  for (collector::RecordCleanup& step : storage.cleanup) {
    step.error = {};
  }
  // Back to the lists of our own: the filter may have put in others.
  record.exceptions = {storage.exceptions.data(), record.exceptions.size()};
  record.suppressed = {storage.suppressed.data(), record.suppressed.size()};
  record.cleanup = {storage.cleanup.data(), record.cleanup.size()};
  record.warnings = {};
  record.exit.stderr_tail = {};
  record.fault.spec = {};
  record.reproduce = {};
}

FilterVerdict apply_filter(const RecordFilter& filter,
                           collector::Record& record, CaptureStorage& storage,
                           bool& failed) noexcept {
  if (!filter) {
    return FilterVerdict::kKeep;
  }
  const collector::Record before = record;
  try {
    return filter(record);
  } catch (...) {
    failed = true;
    record = before;
    take_texts_out(record, storage);
  }
  return FilterVerdict::kKeep;
}

}  // namespace mishap
