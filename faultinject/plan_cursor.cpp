#include <mishap/faultinject/plan_cursor.h>

namespace mishap::faultinject {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool PlanCursor::next_item() {
  while (!at_end()) {
    const char c = text_[offset_];
    if (c == '\n') {
      ++offset_;
      ++line_;
      line_start_ = offset_;
    } else if (is_blank(c) || c == ';') {
      ++offset_;
    } else if (c == '#') {
      take_while([](char other) { return other != '\n'; });
    } else {
      ++item_;
      return true;
    }
  }
  return false;
}

void PlanCursor::skip_blanks() { take_while(is_blank); }

bool PlanCursor::at_item_end() const {
  return at_end() ||
         std::string_view(";\n#").find(peek()) != std::string_view::npos;
}

bool PlanCursor::accept(std::string_view token) {
  if (!starts_with(token)) return false;
  offset_ += token.size();
  return true;
}

PlanPlace PlanCursor::place(std::size_t offset) const {
  return {item_, line_, static_cast<std::uint32_t>(offset - line_start_ + 1)};
}

std::string PlanCursor::found() const {
  if (at_end()) return "the text ends here";
  const char c = peek();
  if (c == '\n') return "the line ends here";
  if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
    static constexpr char kHex[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    return std::string("found the byte 0x") + kHex[byte >> 4] + kHex[byte & 15];
  }
  return "found '" + std::string(1, c) + "'";
}

void PlanCursor::fail(std::size_t offset, std::string_view problem,
                      std::string_view advice) const {
  throw PlanError(source_, place(offset), problem, advice);
}

std::string PlanCursor::take_value() {
  return peek() == '"' ? take_quoted() : take_bare();
}

std::string PlanCursor::take_quoted() {
  const std::size_t start = offset_++;
  std::string value;
  while (true) {
    if (at_end() || peek() == '\n') {
      fail(start, "the quotation mark is never closed",
           "end the text with '\"' on the same line (\\n is a new line)");
    }
    const char c = text_[offset_];
    if (c == '\\') {
      value += take_escape();
      continue;
    }
    ++offset_;
    if (c == '"') return value;
    value += c;
  }
}

char PlanCursor::take_escape() {
  const std::size_t start = offset_++;
  const char c = peek();
  if (!at_end()) ++offset_;
  switch (c) {
    case '"':
    case '\\':
      return c;
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'x': {
      const int high = offset_ < text_.size() ? hex_value(text_[offset_]) : -1;
      const int low =
          offset_ + 1 < text_.size() ? hex_value(text_[offset_ + 1]) : -1;
      if (high < 0 || low < 0) {
        fail(start, "'\\x' needs two hexadecimal digits",
             "write such as \\x0a");
      }
      offset_ += 2;
      return static_cast<char>(high * 16 + low);
    }
    default:
      fail(start, "unknown escape sequence",
           "write one of \\\" \\\\ \\n \\t \\xHH");
  }
}

std::string PlanCursor::take_bare() {
  const std::size_t start = offset_;
  while (!at_end() && !starts_with("->") &&
         std::string_view(",;()[]\"\n").find(peek()) ==
             std::string_view::npos) {
    ++offset_;
  }
  std::string_view value = text_.substr(start, offset_ - start);
  while (!value.empty() && is_blank(value.back())) value.remove_suffix(1);
  return std::string(value);
}

}  // namespace mishap::faultinject
