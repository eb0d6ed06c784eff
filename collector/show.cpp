#include <mishap/collector/show.h>
#include <mishap/collector/show/text.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace mishap::collector {
namespace {

constexpr std::size_t kWidth = 160;

struct Section {
  std::string title;
  std::vector<std::string> lines;
  /// The newest lines are the last ones.
  bool keep_last = false;
  std::size_t left_out = 0;

  std::size_t height() const {
    if (lines.empty()) return 0;
    return lines.size() + (title.empty() ? 0 : 1) + (left_out > 0 ? 1 : 0);
  }
};

std::string at(std::string_view list, std::size_t index) {
  return std::string(list) + "/" + std::to_string(index);
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

class Page {
 public:
  Page(const StoredRecord& record, const ShowOptions& options)
      : record_(record), options_(options) {}

  std::string text() {
    add_headline();
    add_exceptions();
    add_fault();
    add_state();
    add_breadcrumbs();
    add_cleanup();
    add_suppressed();
    add_notes();
    add_repeat();
    shorten();
    return join();
  }

 private:
  std::string word(const std::string& pointer,
                   std::string_view missing = "") const {
    const auto text = record_.text(pointer);
    return text ? printable(*text) : std::string(missing);
  }

  std::string number(const std::string& pointer) const {
    const auto value = record_.integer(pointer);
    return value ? std::to_string(*value) : std::string();
  }

  static void append(std::string& line, std::string_view before,
                     const std::string& value) {
    if (!value.empty()) line += std::string(before) + value;
  }

  Section& add(std::string title) {
    return sections_.emplace_back(Section{.title = std::move(title),
                                          .lines = {},
                                          .keep_last = false,
                                          .left_out = 0});
  }

  std::string what_happened() const {
    const std::string kind = word("/kind");
    if (kind == "interrupt") {
      return "was interrupted by " + word("/interrupt/signal", "a signal");
    }
    if (kind == "crash") {
      return "crashed with " + word("/signal/name", "a signal");
    }
    if (kind == "killed") return "was killed";
    if (kind == "hang") return "hung";
    if (kind == "exit") {
      std::string line = "exited";
      append(line, " with status ", number("/exit/status"));
      append(line, " by signal ", number("/exit/signal"));
      return line;
    }
    return "failed";
  }

  std::string place(const std::string& prefix) const {
    std::string line;
    append(line, " in ", word(prefix + "/hook"));
    append(line, " of ", word(prefix + "/component"));
    std::string counters;
    append(counters, ", stage ", word(prefix + "/stage"));
    append(counters, ", epoch ", number(prefix + "/epoch"));
    append(counters, ", batch ", number(prefix + "/batch_index"));
    append(counters, ", step ", number(prefix + "/global_step"));
    if (!counters.empty()) line += " (" + counters.substr(2) + ")";
    return line;
  }

  void add_headline() {
    Section& section = add("");
    std::string line =
        word("/entry_point", "the process") + " " + what_happened() + place("");
    append(line, ", rank ", number("/rank"));
    section.lines.push_back(colour("1;31", line));
    std::string ids = utc(record_.integer("/time_unix_nano").value_or(0));
    append(ids, "  record ", word("/record_id"));
    append(ids, "  run ", word("/run_id"));
    section.lines.push_back(colour("2", ids));
    append_honoured(section);
  }

  void append_honoured(Section& section) const {
    if (!record_.text("/interrupt/signal")) return;
    std::string line =
        word("/interrupt/signal") + " came" + place("/interrupt/at");
    append(line, " from process ", number("/interrupt/sender_pid"));
    if (const auto delay = record_.integer("/interrupt/delay_micros")) {
      line += " and was honoured " + duration(*delay) + " later";
    }
    section.lines.push_back(line);
  }

  void add_exceptions() {
    for (std::size_t i = 0; i < record_.size("/exceptions"); ++i) {
      const std::string exception = at("/exceptions", i);
      Section& message = add("");
      std::string line = i == 0 ? "" : "caused by ";
      line += word(exception + "/type", "an exception of unknown type");
      const auto what = record_.text(exception + "/message");
      const auto lines = lines_of(what.value_or(""), kWidth);
      if (!lines.empty()) line += ": " + lines.front();
      append(line, "  code ", number(exception + "/code"));
      message.lines.push_back(colour("1", line));
      for (std::size_t n = 1; n < lines.size(); ++n) {
        message.lines.push_back("  " + lines[n]);
      }
      add_stack(exception + "/stack");
    }
    for (std::size_t i = 0; i < record_.size("/threads"); ++i) {
      const std::string thread = at("/threads", i);
      Section& section = add("");
      std::string line = "thread " + number(thread + "/id");
      append(line, " ", word(thread + "/name"));
      append(line, ", ", word(thread + "/role"));
      append(line, ", ", word(thread + "/state"));
      section.lines.push_back(line);
      add_stack(thread + "/stack");
    }
  }

  void add_stack(const std::string& stack) {
    const std::size_t size = record_.size(stack + "/frames");
    if (size == 0) return;
    Section& section =
        add("stack (" + word(stack + "/origin", "unknown origin") +
            "), innermost first, > is your own code");
    for (std::size_t i = 0; i < size; ++i) {
      add_frame(section, at(stack + "/frames", i), i);
    }
  }

  void add_frame(Section& section, const std::string& frame,
                 std::size_t index) const {
    if (const auto function = record_.text(frame + "/function")) {
      std::string where;
      append(where, "  ", word(frame + "/file"));
      append(where, ":", number(frame + "/line"));
      add_frame_line(section, index, printable(*function) + where,
                     record_.flag(frame + "/in_app").value_or(false));
      return;
    }
    const auto module = record_.integer(frame + "/module");
    const auto names = name_frame(frame);
    for (const NamedFrame& name : names) {
      std::string line = printable(name.function);
      if (!name.file.empty()) {
        line += "  " + printable(name.file) + ":" + std::to_string(name.line);
      }
      add_frame_line(section, index, line, name.in_app);
    }
    if (!names.empty()) return;
    std::string line = word(frame + "/address");
    if (module) {
      line += "  module " + std::to_string(*module) + " + " +
              word(frame + "/offset");
    }
    add_frame_line(section, index, line,
                   record_.flag(frame + "/in_app").value_or(false));
  }

  std::vector<NamedFrame> name_frame(const std::string& frame) const {
    if (!options_.name_frame) return {};
    const auto hex = [&](const std::string& pointer) {
      const auto text = record_.text(pointer);
      return text ? std::optional<std::uint64_t>(
                        std::strtoull(text->c_str(), nullptr, 16))
                  : std::nullopt;
    };
    const auto module = record_.integer(frame + "/module");
    UnnamedFrame unnamed;
    unnamed.address = hex(frame + "/address").value_or(0);
    unnamed.offset = hex(frame + "/offset");
    if (module) unnamed.module = static_cast<std::size_t>(*module);
    return options_.name_frame(unnamed);
  }

  void add_frame_line(Section& section, std::size_t index,
                      const std::string& text, bool in_app) const {
    const std::string line = std::string(in_app ? "> " : "  ") +
                             padded(std::to_string(index), 3) +
                             text.substr(0, kWidth);
    section.lines.push_back(in_app ? colour("33", line) : line);
  }

  void add_fault() {
    const std::string status = word("/fault/status");
    if (!record_.text("/fault/point")) {
      if (status == "armed") {
        add("fault").lines.push_back("armed, but none fired");
      }
      return;
    }
    std::string line = word("/fault/action") + " at " + word("/fault/point");
    append(line, ", hit ", number("/fault/hit"));
    append(line, ", plan ", word("/fault/spec"));
    append(line, ", seed ", word("/fault/seed"));
    add("fault").lines.push_back(line);
  }

  void add_state() {
    Section& section = add("state");
    std::string process;
    if (const auto rss = record_.integer("/process/rss_bytes")) {
      process += ", " + bytes(*rss) + " resident";
    }
    append(process, ", threads ", number("/process/threads"));
    append(process, ", open files ", number("/process/fds"));
    append(process, ", weights ", word("/weights"));
    append(process, ", last good checkpoint ", word("/resume/path"));
    if (!process.empty()) section.lines.push_back("  " + process.substr(2));
    for (std::size_t i = 0; i < record_.size("/device"); ++i) {
      const std::string device = at("/device", i);
      std::string line = "  " + word(device + "/name");
      if (const auto used = record_.integer(device + "/allocated_bytes")) {
        line += "  " + bytes(*used) + " allocated";
      }
      if (const auto peak = record_.integer(device + "/peak_bytes")) {
        line += ", " + bytes(*peak) + " at most";
      }
      section.lines.push_back(line);
    }
    for (std::size_t i = 0; i < record_.size("/batch"); ++i) {
      section.lines.push_back(tensor_line(at("/batch", i)));
    }
    for (std::size_t i = 0; i < record_.size("/warnings"); ++i) {
      const auto lines =
          lines_of(word(at("/warnings", i) + "/message"), kWidth);
      if (!lines.empty()) section.lines.push_back("  warning: " + lines[0]);
    }
  }

  std::string tensor_line(const std::string& tensor) const {
    std::string line = "  batch." + word(tensor + "/name") + "  ";
    line += word(tensor + "/dtype") + "[";
    for (std::size_t i = 0; i < record_.size(tensor + "/shape"); ++i) {
      line += (i == 0 ? "" : ", ") + number(at(tensor + "/shape", i));
    }
    line += "]";
    append(line, " on ", word(tensor + "/device"));
    const auto nans = record_.integer(tensor + "/nan_count").value_or(0);
    if (nans > 0) line += ", " + std::to_string(nans) + " NaN";
    return line;
  }

  void add_breadcrumbs() {
    Section& section = add("before, newest last");
    section.keep_last = true;
    for (std::size_t i = 0; i < record_.size("/breadcrumbs"); ++i) {
      const std::string crumb = at("/breadcrumbs", i);
      std::string line =
          "  -" +
          padded(duration(record_.integer(crumb + "/ago_micros").value_or(0)),
                 10) +
          padded(word(crumb + "/hook"), 28);
      for (std::size_t n = 0; n < record_.size(crumb + "/components"); ++n) {
        line += (n == 0 ? "" : ", ") + word(at(crumb + "/components", n));
      }
      const auto took = record_.integer(crumb + "/took_micros");
      line += took ? "  " + duration(*took) : "  did not return";
      section.lines.push_back(line);
    }
  }

  void add_cleanup() {
    Section& section = add("cleanup");
    for (std::size_t i = 0; i < record_.size("/cleanup"); ++i) {
      const std::string step = at("/cleanup", i);
      const std::string outcome = word(step + "/outcome");
      std::string line =
          "  " + padded(outcome, 10) + padded(word(step + "/step"), 24) +
          padded(word(step + "/component"), 28) +
          duration(record_.integer(step + "/micros").value_or(0));
      append(line, "  ", word(step + "/error"));
      section.lines.push_back(outcome == "ran" ? line : colour("33", line));
    }
  }

  void add_suppressed() {
    Section& section = add("errors after the first one");
    for (std::size_t i = 0; i < record_.size("/suppressed"); ++i) {
      const std::string error = at("/suppressed", i);
      std::string line = "  " + word(error + "/type");
      append(line, ": ", word(error + "/message"));
      append(line, "  in ", word(error + "/step"));
      append(line, " of ", word(error + "/component"));
      section.lines.push_back(lines_of(line, kWidth).front());
    }
  }

  void add_notes() {
    Section& section = add("the recorder says");
    for (std::size_t i = 0; i < record_.size("/notes"); ++i) {
      section.lines.push_back("  " + word(at("/notes", i)));
    }
    for (std::size_t i = 0; i < record_.size("/truncated"); ++i) {
      const std::string loss = at("/truncated", i);
      section.lines.push_back("  " + word(loss + "/key") + " holds " +
                              number(loss + "/kept") + " of " +
                              number(loss + "/total"));
    }
  }

  void add_repeat() {
    if (const auto command = record_.text("/reproduce")) {
      add("").lines.push_back("again: " + colour("1", printable(*command)));
    }
  }

  // Takes lines from the longest section until all fit.
  void shorten() {
    const auto height = [this] {
      std::size_t sum = 0;
      for (const Section& section : sections_) sum += section.height();
      return sum;
    };
    while (height() > options_.max_lines) {
      const auto longest =
          std::max_element(sections_.begin(), sections_.end(),
                           [](const Section& left, const Section& right) {
                             return left.lines.size() < right.lines.size();
                           });
      if (longest->lines.size() <= 1) return;
      longest->lines.erase(longest->keep_last ? longest->lines.begin()
                                              : longest->lines.end() - 1);
      ++longest->left_out;
    }
  }

  std::string join() const {
    std::string text;
    for (const Section& section : sections_) {
      if (section.lines.empty()) continue;
      const std::string left_out =
          section.left_out == 0
              ? ""
              : "  ... " + std::to_string(section.left_out) + " more\n";
      if (!section.title.empty()) text += colour("36", section.title) + "\n";
      if (section.keep_last) text += left_out;
      for (const std::string& line : section.lines) text += line + "\n";
      if (!section.keep_last) text += left_out;
    }
    return text;
  }

  std::string colour(std::string_view code, const std::string& text) const {
    if (!options_.colour) return text;
    return "\x1b[" + std::string(code) + "m" + text + "\x1b[0m";
  }

  const StoredRecord& record_;
  const ShowOptions& options_;
  std::vector<Section> sections_;
};

}  // namespace

std::string show(const StoredRecord& record, const ShowOptions& options) {
  return Page(record, options).text();
}

}  // namespace mishap::collector
