#include <mishap/collector/show/sections.h>
#include <mishap/collector/show/text.h>

namespace mishap::collector {
namespace {

std::string process_line(const Fields& fields) {
  std::string line;
  if (const auto rss = fields.record().integer("/process/rss_bytes")) {
    line += ", " + bytes(*rss) + " resident";
  }
  append(line, ", threads ", fields.number("/process/threads"));
  append(line, ", open files ", fields.number("/process/fds"));
  append(line, ", weights ", fields.word("/weights"));
  append(line, ", last good checkpoint ", fields.word("/resume/path"));
  return line.empty() ? line : "  " + line.substr(2);
}

std::string device_line(const Fields& fields, const std::string& device) {
  std::string line = "  " + fields.word(device + "/name");
  if (const auto used = fields.record().integer(device + "/allocated_bytes")) {
    line += "  " + bytes(*used) + " allocated";
  }
  if (const auto peak = fields.record().integer(device + "/peak_bytes")) {
    line += ", " + bytes(*peak) + " at most";
  }
  return line;
}

std::string tensor_line(const Fields& fields, const std::string& tensor) {
  std::string line = "  batch." + fields.word(tensor + "/name") + "  " +
                     fields.word(tensor + "/dtype") + "[";
  for (std::size_t i = 0; i < fields.size(tensor + "/shape"); ++i) {
    line += (i == 0 ? "" : ", ") + fields.number(at(tensor + "/shape", i));
  }
  line += "]";
  append(line, " on ", fields.word(tensor + "/device"));
  const auto nans = fields.record().integer(tensor + "/nan_count").value_or(0);
  if (nans > 0) line += ", " + std::to_string(nans) + " NaN";
  return line;
}

}  // namespace

void add_fault(Page& page, const Fields& fields) {
  if (!fields.record().text("/fault/point")) {
    if (fields.word("/fault/status") == "armed") {
      page.add("fault").lines.push_back("  armed, but none fired");
    }
    return;
  }
  std::string line = "  " + fields.word("/fault/action") + " at " +
                     fields.word("/fault/point");
  append(line, ", hit ", fields.number("/fault/hit"));
  append(line, ", plan ", fields.word("/fault/spec"));
  append(line, ", seed ", fields.word("/fault/seed"));
  page.add("fault").lines.push_back(line);
}

void add_state(Page& page, const Fields& fields) {
  Page::Section& section = page.add("state");
  const std::string process = process_line(fields);
  if (!process.empty()) section.lines.push_back(process);
  for (std::size_t i = 0; i < fields.size("/device"); ++i) {
    section.lines.push_back(device_line(fields, at("/device", i)));
  }
  for (std::size_t i = 0; i < fields.size("/batch"); ++i) {
    section.lines.push_back(tensor_line(fields, at("/batch", i)));
  }
  for (std::size_t i = 0; i < fields.size("/warnings"); ++i) {
    const std::vector<std::string> warning =
        lines_of(fields.word(at("/warnings", i) + "/message"), kShownWidth);
    if (!warning.empty()) section.lines.push_back("  warning: " + warning[0]);
  }
}

}  // namespace mishap::collector
