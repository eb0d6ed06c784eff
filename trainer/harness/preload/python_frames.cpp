#include <mishap/collector/hash.h>
#include <mishap/faultinject/fixed_text.h>
#include <mishap/faultinject/stable_hash.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/python_api.h>
#include <mishap/trainer/harness/preload/python_frames.h>

namespace mishap::preload {
namespace {

// Belongs to the code object, which lives as long as the frame runs.
const char* text_of(const PythonApi& api, PythonApi::Object code,
                    const char* name) noexcept {
  const PythonApi::Object text = api.attribute(code, name);
  if (text == nullptr) {
    return "";
  }
  const char* const bytes = api.utf8(text);
  api.drop(text);
  return bytes == nullptr ? "" : bytes;
}

PythonFrame look_at(const PythonApi& api, PythonApi::Object frame) noexcept {
  PythonFrame out{};
  const PythonApi::Object code = api.frame_code(frame);
  out.file = text_of(api, code, "co_filename");
  out.function = text_of(api, code, "co_name");
  out.line = api.frame_line(frame);
  api.drop(code);
  return out;
}

void write(faultinject::FixedText& text, const PythonFrame& frame) noexcept {
  text << frame.file << ":" << static_cast<std::uint64_t>(frame.line) << " "
       << frame.function;
}

}  // namespace

void PythonFrames::take() noexcept {
  const PythonHold hold;
  if (hold.thread() == nullptr) {
    return;
  }
  if (agent.control->has_python.load(std::memory_order_relaxed) == 0) {
    agent.control->has_python.store(1);
  }
  const PythonApi& api = hold.api();
  PythonApi::Object frame = api.thread_frame(hold.thread());
  while (frame != nullptr && size < frames.size()) {
    const PythonFrame& found = frames[size++] = look_at(api, frame);
    hash = faultinject::chain_hash(
        hash, collector::fnv1a(found.file) +
                  collector::fnv1a(found.function) * 31 +
                  static_cast<std::uint64_t>(found.line) * 1'000'003);
    const PythonApi::Object outer = api.frame_back(frame);
    api.drop(frame);
    frame = outer;
  }
  if (frame != nullptr) {
    api.drop(frame);
  }
}

std::uint32_t PythonFrames::keep() const noexcept {
  if (size == 0) {
    return program::kNoText;
  }
  char room[1 << 13];
  faultinject::FixedText text(room);
  for (std::size_t i = 0; i < size; ++i) {
    if (i > 0) {
      text << "\n";
    }
    write(text, frames[i]);
  }
  return keep_text(text.view());
}

std::string_view write_python_frame(void* frame, std::array<char, 1024>& room) {
  auto& buffer = reinterpret_cast<char(&)[1024]>(*room.data());
  faultinject::FixedText text(buffer);
  write(text, look_at(*python_api(), frame));
  return text.view();
}

}  // namespace mishap::preload
