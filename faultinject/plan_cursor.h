#pragma once

#include <mishap/faultinject/plan_error.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace mishap::faultinject {

/// A place in the text of a plan that moves forward, and says where it is.
class PlanCursor {
 public:
  PlanCursor(std::string_view text, std::string_view source)
      : text_(text), source_(source) {}

  /// Passes blanks, separators and comments, up to the next item. False at the
  /// end of the text.
  bool next_item();

  void skip_blanks();
  bool at_end() const { return offset_ == text_.size(); }
  /// At the end of the item: of the text, at a separator or at a comment.
  bool at_item_end() const;

  /// The next character; '\0' at the end.
  char peek() const { return at_end() ? '\0' : text_[offset_]; }
  bool starts_with(std::string_view token) const {
    return text_.substr(offset_).starts_with(token);
  }
  /// Passes `token` if it comes next.
  bool accept(std::string_view token);

  /// Takes characters as long as `wanted` holds.
  template <typename Predicate>
  std::string_view take_while(Predicate wanted) {
    const std::size_t start = offset_;
    while (!at_end() && wanted(text_[offset_])) ++offset_;
    return text_.substr(start, offset_ - start);
  }

  /// An argument or a filter's value: quoted, or bare and trimmed.
  std::string take_value();

  std::size_t offset() const { return offset_; }
  PlanPlace place(std::size_t offset) const;
  PlanPlace place() const { return place(offset_); }

  /// What stands here, in words.
  std::string found() const;

  [[noreturn]] void fail(std::size_t offset, std::string_view problem,
                         std::string_view advice) const;
  [[noreturn]] void fail(std::string_view problem,
                         std::string_view advice) const {
    fail(offset_, problem, advice);
  }

 private:
  std::string take_quoted();
  char take_escape();
  std::string take_bare();

  std::string_view text_;
  std::string_view source_;
  std::size_t offset_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t item_ = 0;
};

}  // namespace mishap::faultinject
