#include <mishap/trainer/harness/preload/code_places.h>
#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/file_filter.h>
#include <mishap/trainer/harness/preload/file_hits.h>
#include <mishap/trainer/harness/preload/file_path.h>
#include <mishap/trainer/harness/preload/open_files.h>
#include <mishap/trainer/harness/preload/touched.h>
#include <unistd.h>

#include <algorithm>

namespace mishap::preload {

Strike detail::hit_open_file(FixedPoint& point, int descriptor,
                             const void* caller, bool is_write) {
  std::uint32_t path = program::kNoText;
  std::uint32_t number = kNoPoint;
  {
    const Inside inside;
    if (getpid() != agent.process) {
      return {};
    }
    number = point.number();
    if (number != kNoPoint || is_write) {
      const OpenFile file = open_file(descriptor);
      path = number == kNoPoint ? program::kNoText : file.point_path;
      if (is_write && file.told_path != program::kNoText) {
        note_written(descriptor);
        touch(file.told_path, program::Touch::kWritten);
      }
    }
  }
  return path == program::kNoText ? Strike() : hit(number, caller, path);
}

Strike hit_path(FixedPoint& point, int folder, const char* path,
                const void* caller) {
  std::uint32_t text = program::kNoText;
  std::uint32_t number = kNoPoint;
  {
    const Inside inside;
    if (getpid() != agent.process) {
      return {};
    }
    number = point.number();
    PathRoom room;
    const std::string_view found = number == kNoPoint
                                       ? std::string_view()
                                       : absolute_path(folder, path, room);
    if (!found.empty() && is_point_file(found)) {
      text = keep_text(found);
    }
  }
  return text == program::kNoText ? Strike() : hit(number, caller, text);
}

std::size_t part_of(const Strike& strike, std::size_t size) noexcept {
  using faultinject::ActionKind;
  if (strike.kind != ActionKind::kShort && strike.kind != ActionKind::kTorn) {
    return size;
  }
  return std::min(
      size, static_cast<std::size_t>(std::max<std::int64_t>(strike.number, 0)));
}

void set_stream_error(std::FILE* stream) noexcept {
  // _IO_ERR_SEEN: the same since glibc 2.0, part of its ABI by
  // ferror_unlocked() as a macro.
  constexpr int kErrorSeen = 0x20;
  stream->_flags |= kErrorSeen;
}

}  // namespace mishap::preload
