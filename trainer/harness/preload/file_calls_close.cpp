// Calls that close: io/close. The descriptor is closed all the same, as it is
// when a close fails for real.
#include <mishap/trainer/harness/preload/file_hits.h>
#include <mishap/trainer/harness/preload/open_files.h>
#include <mishap/trainer/harness/preload/real_calls.h>
#include <mishap/trainer/harness/preload/stream_flush.h>
#include <mishap/trainer/harness/preload/touched.h>

namespace mishap::preload {
namespace {

/// One call that closes, from before it is done until after.
class Closing {
 public:
  Closing(int descriptor, const void* caller) {
    if (!looks_at_files()) {
      return;
    }
    {
      const Inside inside;
      if (getpid() != agent.process) {
        return;
      }
      if (take_written(descriptor)) {
        written_ = open_file(descriptor).told_path;
      }
    }
    strike_ = hit_file(kIoClose, descriptor, caller);
  }

  // What the call gives, given what the real one gave.
  int done(int result) const noexcept {
    if (written_ != program::kNoText) {
      const Inside inside;
      tell_version(written_);
    }
    return fails(strike_) ? -1 : result;
  }

 private:
  std::uint32_t written_ = program::kNoText;
  Strike strike_;
};

}  // namespace
}  // namespace mishap::preload

using namespace mishap::preload;

MISHAP_INTERPOSE int close(int descriptor) {
  const Closing closing(descriptor, MISHAP_CALLER);
  return closing.done(real.close(descriptor));
}

MISHAP_INTERPOSE int fclose(FILE* stream) {
  // What could not be written is known here at last.
  const bool is_lost = stream != nullptr && holds_unwritten(stream) &&
                       flush_fails(stream, MISHAP_CALLER);
  const int error = errno;
  const Closing closing(stream == nullptr ? -1 : fileno(stream), MISHAP_CALLER);
  const int result = closing.done(real.fclose(stream));
  if (!is_lost) {
    return result;
  }
  errno = error;
  return EOF;
}
