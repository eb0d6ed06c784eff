#include <mishap/collector/label/stored_label.h>
#include <mishap/collector/show/sections.h>
#include <mishap/collector/show/text.h>

namespace mishap::collector {
namespace {

// By offsets, as the names were not known when the record was written.
bool is_by_offset(const Fields& fields) {
  for (std::size_t i = 0; i < fields.size("/fingerprint/parts"); ++i) {
    if (fields.word(at("/fingerprint/parts", i)).starts_with("offset: ")) {
      return true;
    }
  }
  return false;
}

}  // namespace

void add_label(Page& page, const Fields& fields, const ShowOptions& options) {
  StoredLabels labels;
  labels.category = fields.word("/category/name");
  labels.evidence = fields.word("/category/evidence");
  labels.hash = fields.word("/fingerprint/hash");
  if (labels.hash.empty() || (options.name_frame && is_by_offset(fields))) {
    labels = labels_of(fields.record(),
                       {.name_frame = options.name_frame, .module = {}});
  }
  Page::Section& section = page.add("");
  std::string line = "category " + labels.category;
  append(line, ", by ", printable(labels.evidence));
  section.lines.push_back(line);
  section.lines.push_back("group " + labels.hash);
}

}  // namespace mishap::collector
