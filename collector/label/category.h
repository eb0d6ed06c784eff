#pragma once

#include <mishap/collector/label/label_text.h>
#include <mishap/collector/record.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mishap::collector {

/// One exception as far as its category goes.
struct CategoryException {
  std::string_view type;
  std::string_view message;
  std::optional<std::int64_t> code;
};

/// What the category of a failure is read from, wherever that comes from.
struct CategoryInput {
  RecordKind kind = RecordKind::kError;
  /// SIGSEGV, ...; empty when no fatal signal came.
  std::string_view signal;
  /// The control group's out-of-memory counter rose.
  bool was_out_of_memory = false;
  /// Outermost first.
  std::span<const CategoryException> exceptions;
  /// The fault that fired; empty when none did.
  std::string_view fault_point;
  std::string_view fault_action;
};

/// What sort of failure it is: the first that says so of the kind of the record
/// and its signal, the types and error codes of the chain from the innermost
/// cause outwards, the fault that was injected, and last the messages.
/// README.md of this folder lists the names and what published taxonomies call
/// them; "unclassified" when nothing told.
class Category {
 public:
  /// Replaces the content. Async-signal-safe.
  void judge(const CategoryInput& input) noexcept;

  /// The name is static, the evidence a view into this object.
  RecordCategory view() const noexcept { return {name_, evidence_.view()}; }

 private:
  bool by_kind(const CategoryInput& input) noexcept;
  bool by_signal(std::string_view signal) noexcept;
  bool by_chain(std::span<const CategoryException> chain) noexcept;
  bool by_fault(const CategoryInput& input) noexcept;
  bool by_text(std::span<const CategoryException> chain) noexcept;
  bool set(std::string_view name, std::string_view source,
           std::string_view detail) noexcept;

  std::string_view name_;
  detail::LabelText<400> evidence_;
};

}  // namespace mishap::collector
