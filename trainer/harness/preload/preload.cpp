// libmishap_preload.so: what a program that knows nothing of Mishap leaves when
// it crashes, or when it exits with an error after something was thrown.
#include <dlfcn.h>
#include <mishap/collector/crash/fatal_signals.h>
#include <mishap/collector/crash/stack_dump.h>
#include <mishap/collector/crash/thread_registry.h>
#include <mishap/collector/resolve/capture.h>
#include <mishap/collector/sink.h>
#include <mishap/collector/throw_site.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/inside.h>
#include <mishap/trainer/harness/preload/preload_records.h>
#include <mishap/trainer/harness/preload/throw_notes.h>
#include <stdlib.h>
#include <unistd.h>

#include <charconv>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

namespace mishap::preload {
namespace {

PreloadRecords* records = nullptr;

std::string absolute_folder() {
  std::error_code error;
  const auto path = std::filesystem::absolute(
      collector::records_folder("mishap-records"), error);
  return error ? std::string() : path.lexically_normal().string();
}

// The program that a watcher started, not one that this one started.
bool is_watched() {
  const char* const text = getenv("MISHAP_WATCH_PID");
  if (text == nullptr) {
    return false;
  }
  const std::string_view word = text;
  pid_t process = 0;
  std::from_chars(word.data(), word.data() + word.size(), process);
  return process == getpid();
}

void on_exit_of_process(int status, void*) {
  const Inside inside;
  records->tell_exit(status & 0xff);
}

// What its watcher asks for when it hangs.
void offer_stacks() {
  if (const char* const path = getenv("MISHAP_WATCH_STACKS")) {
    collector::warm_up_capture();
    collector::offer_stacks(path);
  }
}

void keep_records() {
  const std::string folder = absolute_folder();
  if (is_watched()) {
    offer_stacks();
  }
  if (folder.empty() || is_hooked_by_others()) {
    // A program with a guard tells its failures itself.
    return;
  }
  // Never destroyed: the process may fail until its very end.
  records = new PreloadRecords(folder, is_watched());
  static const auto* const throws = new collector::ThrowCaptureScope;
  static_cast<void>(throws);
  note_throws();
  collector::register_thread_until_exit("main");
  collector::set_crash_teller(records);
  collector::keep_crash_handlers();
  ::on_exit(on_exit_of_process, nullptr);
}

[[gnu::constructor]] void load() {
  try {
    start_agent();
    if (!is_of_sweep()) {
      const Inside inside;
      keep_records();
    }
  } catch (const std::exception&) {
    // Without memory the program goes on without us.
  }
}

}  // namespace
}  // namespace mishap::preload
