#include <mishap/collector/label/category.h>
#include <mishap/collector/label/fingerprint.h>
#include <mishap/collector/label/stored_label.h>
#include <mishap/collector/record/words.h>

#include <cstdlib>
#include <list>

namespace mishap::collector {
namespace {

RecordKind kind_of(const std::string& word) {
  for (const RecordKind kind :
       {RecordKind::kError, RecordKind::kInterrupt, RecordKind::kCrash,
        RecordKind::kKilled, RecordKind::kHang, RecordKind::kExit}) {
    if (to_string(kind) == word) return kind;
  }
  return RecordKind::kError;
}

// Keeps the texts that the inputs of the judgement are views of.
class Judge {
 public:
  Judge(const StoredRecord& record, const StoredNames& names)
      : record_(record), names_(names) {
    read_chain();
    read_frames();
  }

  StoredLabels labels() {
    StoredLabels out;
    Category category;
    category.judge(category_input());
    out.category = category.view().name;
    out.evidence = category.view().evidence;
    Fingerprint fingerprint;
    fingerprint.compute(fingerprint_input());
    const RecordFingerprint group = fingerprint.view();
    out.version = group.version.value_or(0);
    out.hash = group.hash;
    out.parts.assign(group.parts.begin(), group.parts.end());
    return out;
  }

 private:
  std::string_view keep(std::string text) {
    return texts_.emplace_back(std::move(text));
  }
  std::string_view word(const std::string& pointer) {
    return keep(record_.text(pointer).value_or(""));
  }

  void read_chain() {
    for (std::size_t i = 0; i < record_.size("/exceptions"); ++i) {
      const std::string exception = "/exceptions/" + std::to_string(i);
      chain_.push_back({word(exception + "/type"), word(exception + "/message"),
                        record_.integer(exception + "/code")});
      types_.push_back(chain_.back().type);
      if (record_.size(exception + "/stack/frames") > 0) {
        stack_ = exception + "/stack/frames";
      }
    }
    const auto failed = record_.integer("/thread/id");
    for (std::size_t i = 0; stack_.empty() && i < record_.size("/threads");
         ++i) {
      const std::string thread = "/threads/" + std::to_string(i);
      if (record_.integer(thread + "/id") == failed) {
        stack_ = thread + "/stack/frames";
      }
    }
  }

  void read_frames() {
    const std::string origin =
        stack_.substr(0, stack_.rfind('/') + 1) + "origin";
    is_signal_stack_ = !stack_.empty() && word(origin) == "signal";
    for (std::size_t i = 0; !stack_.empty() && i < record_.size(stack_); ++i) {
      const std::string frame = stack_ + '/' + std::to_string(i);
      FingerprintFrame out;
      out.function = word(frame + "/function");
      if (out.function.empty()) out.function = word(frame + "/symbol");
      out.in_app = record_.flag(frame + "/in_app").value_or(false);
      if (!out.function.empty() || !add_named(frame)) {
        if (out.function.empty()) locate(frame, out);
        frames_.push_back(out);
      }
    }
  }

  static std::uint64_t hex(const std::optional<std::string>& text) {
    return text ? std::strtoull(text->c_str(), nullptr, 16) : 0;
  }

  void locate(const std::string& frame, FingerprintFrame& out) {
    out.offset = hex(record_.text(frame + "/offset"));
    const auto module = record_.integer(frame + "/module");
    if (module && *module >= 0 && names_.module) {
      out.module = keep(names_.module(static_cast<std::size_t>(*module)));
    }
  }

  bool add_named(const std::string& frame) {
    if (!names_.name_frame) return false;
    UnnamedFrame unnamed;
    unnamed.address = hex(record_.text(frame + "/address"));
    unnamed.exact = is_signal_stack_ && frame == stack_ + "/0";
    const auto module = record_.integer(frame + "/module");
    const auto offset = record_.text(frame + "/offset");
    if (module) unnamed.module = static_cast<std::size_t>(*module);
    if (offset) unnamed.offset = hex(offset);
    const std::vector<NamedFrame> named = names_.name_frame(unnamed);
    for (const NamedFrame& function : named) {
      FingerprintFrame out;
      out.function = keep(function.function);
      out.in_app = function.in_app;
      frames_.push_back(out);
    }
    return !named.empty();
  }

  CategoryInput category_input() {
    CategoryInput input;
    input.kind = kind_of(std::string(word("/kind")));
    input.signal = word("/signal/name");
    input.was_out_of_memory =
        record_.integer("/exit/oom_kills_after").value_or(0) >
        record_.integer("/exit/oom_kills_before").value_or(0);
    input.exceptions = chain_;
    input.fault_point = word("/fault/point");
    input.fault_action = word("/fault/action");
    return input;
  }

  FingerprintInput fingerprint_input() {
    if (types_.empty()) {
      const std::string_view signal = word("/signal/name");
      types_.push_back(signal.empty() ? word("/kind") : signal);
    }
    FingerprintInput input;
    input.types = types_;
    input.stage = word("/stage");
    input.hook = word("/hook");
    input.component = word("/component");
    input.frames = frames_;
    if (!chain_.empty()) input.message = chain_.back().message;
    return input;
  }

  const StoredRecord& record_;
  const StoredNames& names_;
  // Its items stay where they are.
  std::list<std::string> texts_;
  std::vector<CategoryException> chain_;
  std::vector<std::string_view> types_;
  std::string stack_;
  bool is_signal_stack_ = false;
  std::vector<FingerprintFrame> frames_;
};

}  // namespace

StoredLabels labels_of(const StoredRecord& record, const StoredNames& names) {
  return Judge(record, names).labels();
}

}  // namespace mishap::collector
