#pragma once

#include <mishap/collector/reader.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace mishap::collector {

/// The values of a record as words that can be shown; what is not there is
/// empty.
class Fields {
 public:
  explicit Fields(const StoredRecord& record) : record_(record) {}

  const StoredRecord& record() const { return record_; }

  std::string word(const std::string& pointer,
                   std::string_view missing = "") const;
  std::string number(const std::string& pointer) const;
  std::size_t size(const std::string& pointer) const {
    return record_.size(pointer);
  }
  /// " in training_step of module (stage train, epoch 1)", for the place whose
  /// keys begin with `prefix`.
  std::string place(const std::string& prefix) const;

 private:
  const StoredRecord& record_;
};

/// Pointer to an item of a list.
std::string at(std::string_view list, std::size_t index);

/// Adds a value that is not empty, with what belongs before it.
void append(std::string& line, std::string_view before,
            const std::string& value);

/// At least so many characters.
std::string padded(std::string text, std::size_t width);

}  // namespace mishap::collector
