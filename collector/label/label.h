#pragma once

#include <mishap/collector/label/category.h>
#include <mishap/collector/label/fingerprint.h>
#include <mishap/collector/record.h>

namespace mishap::collector {

/// The judgements that every record carries, in storage of their own: its
/// category and its fingerprint.
class Labels {
 public:
  /// Judges what the record says so far and puts the labels into it, as views
  /// into this object. To be called again when names were found: a frame
  /// without one counts by its module and offset. Modules are those of this
  /// process. Async-signal-safe; some 12 KB of stack.
  void put_on(Record& record) noexcept;

 private:
  Category category_;
  Fingerprint fingerprint_;
};

}  // namespace mishap::collector
