#include <mishap/collector/show/sections.h>
#include <mishap/collector/show/text.h>

namespace mishap::collector {

void add_breadcrumbs(Page& page, const Fields& fields) {
  Page::Section& section = page.add("before, newest last");
  section.keep_last = true;
  for (std::size_t i = 0; i < fields.size("/breadcrumbs"); ++i) {
    const std::string crumb = at("/breadcrumbs", i);
    const auto ago = fields.record().integer(crumb + "/ago_micros");
    std::string line = "  -" + padded(duration(ago.value_or(0)), 10) +
                       padded(fields.word(crumb + "/hook"), 28);
    for (std::size_t n = 0; n < fields.size(crumb + "/components"); ++n) {
      line += (n == 0 ? "" : ", ") + fields.word(at(crumb + "/components", n));
    }
    const auto took = fields.record().integer(crumb + "/took_micros");
    line += took ? "  " + duration(*took) : "  did not return";
    section.lines.push_back(line);
  }
}

void add_cleanup(Page& page, const Fields& fields) {
  Page::Section& steps = page.add("cleanup");
  for (std::size_t i = 0; i < fields.size("/cleanup"); ++i) {
    const std::string step = at("/cleanup", i);
    const std::string outcome = fields.word(step + "/outcome");
    const auto micros = fields.record().integer(step + "/micros");
    std::string line = "  " + padded(outcome, 10) +
                       padded(fields.word(step + "/step"), 24) +
                       padded(fields.word(step + "/component"), 28) +
                       duration(micros.value_or(0));
    append(line, "  ", fields.word(step + "/error"));
    steps.lines.push_back(outcome == "ran" ? line : page.colour("33", line));
  }
  Page::Section& errors = page.add("errors after the first one");
  for (std::size_t i = 0; i < fields.size("/suppressed"); ++i) {
    const std::string error = at("/suppressed", i);
    std::string line = "  " + fields.word(error + "/type");
    append(line, ": ", fields.word(error + "/message"));
    append(line, "  in ", fields.word(error + "/step"));
    append(line, " of ", fields.word(error + "/component"));
    errors.lines.push_back(lines_of(line, kShownWidth).front());
  }
}

void add_notes(Page& page, const Fields& fields) {
  Page::Section& section = page.add("the recorder says");
  for (std::size_t i = 0; i < fields.size("/notes"); ++i) {
    section.lines.push_back("  " + fields.word(at("/notes", i)));
  }
  for (std::size_t i = 0; i < fields.size("/truncated"); ++i) {
    const std::string loss = at("/truncated", i);
    section.lines.push_back("  " + fields.word(loss + "/key") + " holds " +
                            fields.number(loss + "/kept") + " of " +
                            fields.number(loss + "/total"));
  }
}

}  // namespace mishap::collector
