#include <mishap/collector/label/label.h>
#include <mishap/collector/modules.h>
#include <mishap/collector/record/words.h>

#include <algorithm>

namespace mishap::collector {
namespace {

constexpr std::size_t kMaxChain = 8;
constexpr std::size_t kBuildIdDigits = 2 * Module::kMaxBuildIdBytes;
constexpr std::size_t kMaxModules = 16;

// Build-ids as text, for the modules that the frames lie in.
class ModuleNames {
 public:
  std::string_view name(int module) noexcept {
    if (module == kNoModule) return {};
    for (std::size_t i = 0; i < size_; ++i) {
      if (modules_[i] == module) return texts_[i].view();
    }
    if (size_ == kMaxModules) return {};
    modules_[size_] = module;
    Text& text = texts_[size_++];
    const Module& known = module_at(static_cast<std::size_t>(module));
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (std::size_t i = 0; i < known.build_id_size; ++i) {
      text.add(kDigits[known.build_id[i] >> 4U]);
      text.add(kDigits[known.build_id[i] & 15U]);
    }
    if (text.size() == 0) {
      const std::string_view path = known.path;
      text.add(path.substr(path.rfind('/') + 1));
    }
    return text.view();
  }

 private:
  using Text = detail::LabelText<kBuildIdDigits>;

  std::array<int, kMaxModules> modules_;
  std::array<Text, kMaxModules> texts_;
  std::size_t size_ = 0;
};

// The stack of the innermost cause that has one; without exceptions that of the
// thread that failed.
std::span<const RecordFrame> frames_of(const Record& record) noexcept {
  for (std::size_t i = record.exceptions.size(); i-- > 0;) {
    if (!record.exceptions[i].stack.frames.empty()) {
      return record.exceptions[i].stack.frames;
    }
  }
  for (const RecordThreadStack& thread : record.threads) {
    if (thread.id == record.thread.id) return thread.stack.frames;
  }
  return {};
}

std::size_t read_frames(std::span<const RecordFrame> frames,
                        ModuleNames& modules,
                        std::span<FingerprintFrame> out) noexcept {
  const std::size_t size = std::min(frames.size(), out.size());
  for (std::size_t i = 0; i < size; ++i) {
    const RecordFrame& frame = frames[i];
    // A return address may lie behind the module of its call.
    const int module = find_known_module(frame.address - 1);
    out[i].function = frame.function.empty() ? frame.symbol : frame.function;
    out[i].offset = frame.offset.value_or(0);
    out[i].module =
        out[i].function.empty() ? modules.name(module) : std::string_view();
    out[i].in_app = frame.in_app.value_or(
        module != kNoModule &&
        !module_at(static_cast<std::size_t>(module)).is_foreign);
  }
  return size;
}

}  // namespace

void Labels::put_on(Record& record) noexcept {
  std::array<CategoryException, kMaxChain> exceptions;
  std::array<std::string_view, kMaxChain> types;
  const std::size_t depth = std::min(record.exceptions.size(), kMaxChain);
  for (std::size_t i = 0; i < depth; ++i) {
    const RecordException& exception = record.exceptions[i];
    exceptions[i] = {exception.type, exception.message, exception.code};
    types[i] = exception.type;
  }
  CategoryInput category;
  category.kind = record.kind;
  category.signal = record.signal.name;
  category.was_out_of_memory = record.exit.oom_kills_after.value_or(0) >
                               record.exit.oom_kills_before.value_or(0);
  category.exceptions = {exceptions.data(), depth};
  category.fault_point = record.fault.point;
  category.fault_action = record.fault.action;
  category_.judge(category);
  record.category = category_.view();

  if (depth == 0) {
    types[0] = record.signal.name.empty() ? to_string(record.kind)
                                          : record.signal.name;
  }
  ModuleNames modules;
  std::array<FingerprintFrame, Fingerprint::kMaxInputFrames> frames;
  FingerprintInput fingerprint;
  fingerprint.types = {types.data(), std::max<std::size_t>(depth, 1)};
  fingerprint.stage = record.place.stage;
  fingerprint.hook = record.place.hook;
  fingerprint.component = record.place.component;
  fingerprint.frames = {frames.data(),
                        read_frames(frames_of(record), modules, frames)};
  if (depth > 0) fingerprint.message = record.exceptions[depth - 1].message;
  fingerprint_.compute(fingerprint);
  record.fingerprint = fingerprint_.view();
}

}  // namespace mishap::collector
