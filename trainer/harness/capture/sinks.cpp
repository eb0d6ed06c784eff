#include <mishap/collector/privacy.h>
#include <mishap/collector/recover_pending.h>
#include <mishap/trainer/harness/capture/sinks.h>

#include <map>
#include <memory>
#include <mutex>

namespace mishap {

std::string folder_for(const CaptureOptions& options) {
  return options.records.empty() ? collector::records_folder("mishap-records")
                                 : options.records;
}

collector::RecordSink& sink_for(const CaptureOptions& options) {
  static std::mutex mutex;
  // Never destroyed: a run may fail after main.
  static auto* const sinks =
      new std::map<std::pair<std::string, bool>,
                   std::unique_ptr<collector::RecordSink>>;
  static const bool from_environment =
      (collector::hide(collector::privacy_from_environment()), true);
  static_cast<void>(from_environment);
  collector::hide(options.privacy);
  const std::lock_guard lock(mutex);
  const std::string folder = folder_for(options);
  auto& sink = (*sinks)[{folder, options.fsync}];
  if (!sink) {
    collector::SinkOptions sink_options;
    sink_options.folder = folder;
    sink_options.fsync = options.fsync;
    sink_options.rotation = options.rotation;
    sink_options.max_file_bytes = options.max_file_bytes;
    sink = std::make_unique<collector::RecordSink>(std::move(sink_options));
    collector::recover_pending(*sink);
  }
  return *sink;
}

}  // namespace mishap
