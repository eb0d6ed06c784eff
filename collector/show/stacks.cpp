#include <mishap/collector/label/fold.h>
#include <mishap/collector/show/sections.h>
#include <mishap/collector/show/text.h>
#include <mishap/collector/utf8.h>

#include <cstdlib>

namespace mishap::collector {
namespace {

class Stack {
 public:
  Stack(Page& page, const Fields& fields, const ShowOptions& options,
        std::string pointer)
      : page_(page),
        fields_(fields),
        options_(options),
        frames_(pointer + "/frames"),
        repeats_(pointer + "/repeats"),
        exact_first_(fields.word(pointer + "/origin") == "signal") {
    const std::size_t size = fields.size(frames_);
    if (size == 0) return;
    section_ = &page.add("stack (" +
                         fields.word(pointer + "/origin", "unknown origin") +
                         "), innermost first, > is your own code");
    for (std::size_t i = 0; i < size;) {
      const Fold fold = fold_at(i, size, [this](std::size_t a, std::size_t b) {
        return is_same(at(frames_, a), at(frames_, b));
      });
      for (std::size_t j = i; j < i + fold.size; ++j) {
        add_frame(at(frames_, j), j);
        add_stored_repetition(j);
      }
      if (fold.times > 1) add_repetition(fold);
      i += fold.size * fold.times;
    }
  }

 private:
  // Of the same function, at whatever line of it.
  bool is_same(const std::string& a, const std::string& b) const {
    const std::string function = fields_.word(a + "/function");
    return function.empty()
               ? fields_.word(a + "/address") == fields_.word(b + "/address")
               : function == fields_.word(b + "/function");
  }

  // Recursion that was folded when the record was written and ends here.
  void add_stored_repetition(std::size_t index) {
    for (std::size_t i = 0; i < fields_.size(repeats_); ++i) {
      const auto number = [&](const char* key) {
        return static_cast<std::size_t>(
            fields_.record().integer(at(repeats_, i) + key).value_or(0));
      };
      const Fold fold{number("/first"), number("/frames"), number("/times")};
      if (fold.first + fold.size == index + 1) add_repetition(fold);
    }
  }

  void add_repetition(const Fold& fold) {
    std::string what = "the frame above";
    if (fold.size > 1) {
      what = "the " + std::to_string(fold.size) + " frames above";
    }
    section_->lines.push_back("       " + what + ", " +
                              std::to_string(fold.times) + " times in a row");
  }

  void add_frame(const std::string& frame, std::size_t index) {
    const bool in_app =
        fields_.record().flag(frame + "/in_app").value_or(false);
    const std::string function = fields_.word(frame + "/function");
    if (!function.empty()) {
      std::string line = function;
      append(line, "  ", fields_.word(frame + "/file"));
      append(line, ":", fields_.number(frame + "/line"));
      return add_line(index, line, in_app);
    }
    const std::vector<NamedFrame> names =
        name(frame, exact_first_ && index == 0);
    for (const NamedFrame& named : names) {
      std::string line = printable(named.function);
      if (!named.file.empty()) {
        line += "  " + printable(named.file) + ":" + std::to_string(named.line);
      }
      add_line(index, line, named.in_app);
    }
    if (names.empty()) add_line(index, address_line(frame), in_app);
  }

  std::string address_line(const std::string& frame) const {
    std::string line = fields_.word(frame + "/address");
    append(line, "  module ", fields_.number(frame + "/module"));
    append(line, " + ", fields_.word(frame + "/offset"));
    return line;
  }

  std::vector<NamedFrame> name(const std::string& frame, bool exact) const {
    if (!options_.name_frame) return {};
    const auto module = fields_.record().integer(frame + "/module");
    const auto offset = fields_.record().text(frame + "/offset");
    UnnamedFrame unnamed;
    unnamed.exact = exact;
    unnamed.address = hex(fields_.word(frame + "/address"));
    if (module) unnamed.module = static_cast<std::size_t>(*module);
    if (offset) unnamed.offset = hex(*offset);
    return options_.name_frame(unnamed);
  }

  static std::uint64_t hex(const std::string& text) {
    return std::strtoull(text.c_str(), nullptr, 16);
  }

  void add_line(std::size_t index, const std::string& text, bool in_app) {
    const std::string line = std::string(in_app ? "> " : "  ") +
                             padded(std::to_string(index), 3) +
                             std::string(clip_utf8(text, kShownWidth));
    section_->lines.push_back(in_app ? page_.colour("33", line) : line);
  }

  Page& page_;
  const Fields& fields_;
  const ShowOptions& options_;
  std::string frames_;
  std::string repeats_;
  bool exact_first_;
  Page::Section* section_ = nullptr;
};

void add_exception(Page& page, const Fields& fields,
                   const std::string& exception, bool is_cause) {
  Page::Section& section = page.add("");
  std::string line = is_cause ? "caused by " : "";
  line += fields.word(exception + "/type", "an exception of unknown type");
  const std::vector<std::string> message =
      lines_of(fields.word(exception + "/message"), kShownWidth);
  if (!message.empty()) line += ": " + message.front();
  append(line, "  code ", fields.number(exception + "/code"));
  section.lines.push_back(page.colour("1", line));
  for (std::size_t i = 1; i < message.size(); ++i) {
    section.lines.push_back("  " + message[i]);
  }
  // The thrower's own stack is second best.
  if (fields.size(exception + "/stack/frames") > 0) return;
  const std::string native = fields.word(exception + "/native_backtrace");
  if (native.empty()) return;
  page.add("stack that the exception carries").lines =
      lines_of(native, kShownWidth);
}

}  // namespace

void add_stacks(Page& page, const Fields& fields, const ShowOptions& options) {
  for (std::size_t i = 0; i < fields.size("/exceptions"); ++i) {
    const std::string exception = at("/exceptions", i);
    add_exception(page, fields, exception, i > 0);
    Stack(page, fields, options, exception + "/stack");
  }
  for (std::size_t i = 0; i < fields.size("/threads"); ++i) {
    const std::string thread = at("/threads", i);
    std::string line = "thread";
    append(line, " ", fields.number(thread + "/id"));
    append(line, " ", fields.word(thread + "/name"));
    append(line, ", ", fields.word(thread + "/role"));
    append(line, ", ", fields.word(thread + "/state"));
    page.add("").lines.push_back(line);
    Stack(page, fields, options, thread + "/stack");
  }
}

}  // namespace mishap::collector
