#include <mishap/collector/show.h>
#include <mishap/collector/show/sections.h>
#include <mishap/collector/show/text.h>

namespace mishap::collector {

std::string show(const StoredRecord& record, const ShowOptions& options) {
  const Fields fields(record);
  Page page(options.colour);
  add_headline(page, fields);
  add_stacks(page, fields, options);
  add_label(page, fields, options);
  add_fault(page, fields);
  add_state(page, fields);
  add_breadcrumbs(page, fields);
  add_cleanup(page, fields);
  add_notes(page, fields);
  if (const auto command = record.text("/reproduce")) {
    page.add("").lines.push_back("again: " +
                                 page.colour("1", printable(*command)));
  }
  page.shorten(options.max_lines);
  return page.text();
}

}  // namespace mishap::collector
