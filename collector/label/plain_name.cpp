#include <mishap/collector/label/plain_name.h>

#include <array>

namespace mishap::collector {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kOperator = "operator";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

class NameReader {
 public:
  NameReader(std::string_view name, bool is_type, PlainName& out)
      : rest_(name), is_type_(is_type), out_(out) {}

  void read() {
    out_.clear();
    for (const std::string_view thunk :
         {"non-virtual thunk to ", "virtual thunk to ",
          "covariant return thunk to "}) {
      take(thunk);
    }
    while (!rest_.empty()) step();
    name_lambda();
  }

 private:
  // Where a lambda was inlined, debug information calls it "operator()" alone.
  void name_lambda() {
    const std::string_view name = out_.view();
    if (name == "operator()" || name.ends_with("{lambda}::operator()")) {
      out_.clear();
      out_.add("{lambda}");
    }
  }

  bool take(std::string_view prefix) {
    if (!rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }

  void step() {
    if (is_word(rest_.front()) && !begins_operator()) {
      std::size_t end = 1;
      while (end < rest_.size() && is_word(rest_[end])) ++end;
      out_.add(rest_.substr(0, end));
      rest_.remove_prefix(end);
    } else if (take(kAnonymous) || take("{anonymous}")) {
      // Its number of scopes differs with inlining: the rest is the name.
      out_.clear();
      take("::");
    } else if (rest_.front() == '{') {
      take_braces();
    } else if (take("'lambda")) {
      rest_.remove_prefix(std::min(rest_.find('\''), rest_.size()));
      take("'");
      out_.add("{lambda}");
      if (rest_.starts_with('(')) skip_group('(', ')');
    } else if (begins_operator()) {
      take_operator();
    } else if (rest_.front() == '(') {
      take_parameters();
    } else if (rest_.front() == '<') {
      skip_group('<', '>');
    } else if (rest_.front() == '[') {
      skip_group('[', ']');
    } else if (rest_.front() == ' ' && !is_type_) {
      // What came was the return type, unless "[clone ...]" follows.
      rest_.remove_prefix(1);
      if (!rest_.starts_with('[')) out_.clear();
    } else if (begins_clone_suffix()) {
      rest_ = {};
    } else {
      const bool is_pointer = rest_.front() == '*' || rest_.front() == '&';
      if (is_type_ || !is_pointer) out_.add(rest_.front());
      rest_.remove_prefix(1);
    }
  }

  // "foo.isra.0", "foo.cold"; a name that was read has no dot of its own.
  bool begins_clone_suffix() const {
    return rest_.front() == '.' && rest_.size() > 1 && is_letter(rest_[1]) &&
           out_.size() > 0 && is_word(out_.view().back());
  }

  bool begins_operator() const {
    const std::string_view before = out_.view();
    return rest_.starts_with(kOperator) &&
           (before.empty() || before.back() == ':') &&
           (rest_.size() == kOperator.size() || !is_word(rest_[8]));
  }

  void take_operator() {
    take(kOperator);
    out_.add(kOperator);
    if (take("()")) return out_.add("()");
    if (take("[]")) return out_.add("[]");
    if (rest_.starts_with(' ') || rest_.starts_with('"')) {
      take_named_operator();
      return;
    }
    constexpr std::string_view kSymbols = "+-*/%^&|~!=<>,";
    while (!rest_.empty() && kSymbols.find(rest_.front()) != kSymbols.npos) {
      out_.add(rest_.front());
      rest_.remove_prefix(1);
    }
    if (rest_.starts_with(" <")) rest_.remove_prefix(1);
  }

  // Conversions, literals, new, delete, co_await.
  void take_named_operator() {
    while (!rest_.empty() && rest_.front() != '(') {
      if (rest_.front() == '<') {
        skip_group('<', '>');
        continue;
      }
      out_.add(rest_.front());
      rest_.remove_prefix(1);
    }
  }

  // {lambda(int)#1}, {unnamed type#2}, {default arg#1}: what it is.
  void take_braces() {
    const std::size_t end =
        std::min(rest_.find_first_of("(#}<", 1), rest_.size());
    out_.add(rest_.substr(0, end));
    out_.add('}');
    skip_group('{', '}');
  }

  // Behind parameters come qualifiers, or a scope inside the function.
  void take_parameters() {
    // int (*f(int))(double): a function that gives a pointer to another one.
    if (out_.size() == 0 && (take("(*") || take("(&"))) return;
    const bool is_return_type = out_.view().ends_with("decltype");
    skip_group('(', ')');
    if (is_return_type) return;
    const std::size_t scope = rest_.find("::");
    const std::size_t opening = rest_.find_first_of("([<{");
    rest_.remove_prefix(scope < opening ? scope : rest_.size());
  }

  void skip_group(char open, char close) {
    int depth = 0;
    char last = '\0';
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      const bool is_arrow = c == '>' && last == '-';
      depth += c == open ? 1 : c == close && !is_arrow ? -1 : 0;
      if (depth == 0) return;
      // Comparisons and shifts of template arguments stand in parentheses.
      if (open == '<' && c == '(') {
        rest_ = {&rest_.front() - 1, rest_.size() + 1};
        skip_group('(', ')');
      }
      last = c;
    }
  }

  std::string_view rest_;
  bool is_type_;
  PlainName& out_;
};

bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

class MessageReader {
 public:
  MessageReader(std::string_view message, PlainMessage& out)
      : rest_(message.substr(0, message.find('\n'))), out_(out) {}

  void read() {
    out_.clear();
    while (!rest_.empty()) {
      if (begins_path()) {
        skip_while([](char c) { return is_in_path(c); });
        out_.add("<path>");
      } else if (is_word(rest_.front())) {
        take_word();
      } else {
        out_.add(rest_.front());
        rest_.remove_prefix(1);
      }
      last_ = out_.size() > 0 ? out_.view().back() : '\0';
    }
  }

 private:
  static bool is_in_path(char c) {
    return is_word(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view("/.-+~@%=#").find(c) != std::string_view::npos;
  }

  // "/a", "./a", "../a" and "a/b", but not "and/or".
  bool begins_path() const {
    std::size_t end = 0;
    while (end < rest_.size() && is_in_path(rest_[end])) ++end;
    const std::string_view token = rest_.substr(0, end);
    const std::size_t slash = token.find('/');
    if (slash == std::string_view::npos || is_word(last_)) return false;
    return token.size() > 1 &&
           (slash == 0 || token.front() == '.' || token.front() == '~' ||
            token.find('/', slash + 1) != std::string_view::npos ||
            token.find('.', slash) != std::string_view::npos);
  }

  void take_word() {
    std::size_t end = 0;
    bool all_hex = true;
    bool has_digit = false;
    while (end < rest_.size() && is_word(rest_[end])) {
      all_hex = all_hex && is_hex_digit(rest_[end]);
      has_digit = has_digit || is_digit(rest_[end]);
      ++end;
    }
    constexpr std::size_t kShortestHash = 8;
    if (rest_.starts_with("0x") || rest_.starts_with("0X") ||
        (all_hex && has_digit && end >= kShortestHash && !is_decimal(end))) {
      rest_.remove_prefix(end);
      return out_.add("<hex>");
    }
    // A number may stand within a word, as in "worker3" and "12MB".
    for (const std::string_view word = rest_.substr(0, end);
         rest_.data() < word.data() + word.size();) {
      if (is_digit(rest_.front())) {
        take_number();
      } else {
        out_.add(rest_.front());
        rest_.remove_prefix(1);
      }
    }
  }

  bool is_decimal(std::size_t end) const {
    return rest_.substr(0, end).find_first_not_of("0123456789") ==
           std::string_view::npos;
  }

  void take_number() {
    skip_while(is_digit);
    if (rest_.size() > 1 && rest_[0] == '.' && is_digit(rest_[1])) {
      rest_.remove_prefix(1);
      skip_while(is_digit);
    }
    out_.add("<n>");
  }

  template <typename Is>
  void skip_while(Is is) {
    while (!rest_.empty() && is(rest_.front())) rest_.remove_prefix(1);
  }

  std::string_view rest_;
  PlainMessage& out_;
  char last_ = '\0';
};

}  // namespace

void plain_name(std::string_view readable, PlainName& out) noexcept {
  NameReader(readable, false, out).read();
}

void plain_type(std::string_view readable, PlainName& out) noexcept {
  NameReader(readable, true, out).read();
}

void plain_message(std::string_view message, PlainMessage& out) noexcept {
  MessageReader(message, out).read();
}

}  // namespace mishap::collector
