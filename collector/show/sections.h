#pragma once

#include <mishap/collector/show.h>
#include <mishap/collector/show/fields.h>
#include <mishap/collector/show/page.h>

namespace mishap::collector {

/// Longest line of a section.
inline constexpr std::size_t kShownWidth = 160;

/// What happened, where and when.
void add_headline(Page& page, const Fields& fields);
/// The exceptions with their stacks, then the threads with theirs.
void add_stacks(Page& page, const Fields& fields, const ShowOptions& options);
/// Category and group.
void add_label(Page& page, const Fields& fields, const ShowOptions& options);
/// The fault that was injected.
void add_fault(Page& page, const Fields& fields);
/// Process, devices, batch, warnings.
void add_state(Page& page, const Fields& fields);
/// What went before.
void add_breadcrumbs(Page& page, const Fields& fields);
/// The cleanup and the errors that came in it.
void add_cleanup(Page& page, const Fields& fields);
/// What the recorder says of itself.
void add_notes(Page& page, const Fields& fields);

}  // namespace mishap::collector
