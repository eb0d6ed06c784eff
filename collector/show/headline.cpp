#include <mishap/collector/show/sections.h>
#include <mishap/collector/show/text.h>

namespace mishap::collector {
namespace {

std::string what_happened(const Fields& fields) {
  const std::string kind = fields.word("/kind");
  if (kind == "interrupt") {
    return "was interrupted by " + fields.word("/interrupt/signal", "a signal");
  }
  if (kind == "crash") {
    // A crash without a signal of its own came by std::terminate().
    return fields.record().text("/signal/name")
               ? "crashed with " + fields.word("/signal/name")
               : "was ended by std::terminate()";
  }
  if (kind == "killed") return "was killed";
  if (kind == "hang") return "hung";
  if (kind == "exit") {
    std::string line = "exited";
    append(line, " with status ", fields.number("/exit/status"));
    append(line, " by signal ", fields.number("/exit/signal"));
    return line;
  }
  return "failed";
}

std::string interrupt_line(const Fields& fields) {
  std::string line = fields.word("/interrupt/signal") + " came" +
                     fields.place("/interrupt/at");
  append(line, " from process ", fields.number("/interrupt/sender_pid"));
  if (const auto delay = fields.record().integer("/interrupt/delay_micros")) {
    line += " and was honoured " + duration(*delay) + " later";
  }
  return line;
}

}  // namespace

void add_headline(Page& page, const Fields& fields) {
  Page::Section& section = page.add("");
  std::string line = fields.word("/entry_point", "the process") + " " +
                     what_happened(fields) + fields.place("");
  append(line, ", rank ", fields.number("/rank"));
  section.lines.push_back(page.colour("1;31", line));
  std::string ids = utc(fields.record().integer("/time_unix_nano").value_or(0));
  append(ids, "  record ", fields.word("/record_id"));
  append(ids, "  run ", fields.word("/run_id"));
  section.lines.push_back(page.colour("2", ids));
  const std::int64_t times =
      fields.record().integer("/occurrence_count").value_or(0);
  if (times > 1) {
    section.lines.push_back("number " + std::to_string(times) +
                            " of its kind in that process");
  }
  if (fields.record().text("/interrupt/signal")) {
    section.lines.push_back(interrupt_line(fields));
  }
}

}  // namespace mishap::collector
