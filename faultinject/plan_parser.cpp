#include <mishap/faultinject/action_arguments.h>
#include <mishap/faultinject/capability.h>
#include <mishap/faultinject/filter_keys.h>
#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/plan_cursor.h>
#include <mishap/faultinject/point.h>
#include <mishap/faultinject/suggestion.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace mishap::faultinject {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
         c == '_';
}
bool is_name_character(char c) {
  return is_word_character(c) ||
         std::string_view(".:#-*/").find(c) != std::string_view::npos;
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

template <typename Row, typename Name>
std::vector<std::string_view> words(std::span<const Row> rows, Name name) {
  std::vector<std::string_view> all;
  for (const Row& row : rows) all.push_back(row.*name);
  return all;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view source)
      : cursor_(text, source) {}

  Plan plan() {
    Plan plan;
    while (cursor_.next_item()) item(plan);
    return plan;
  }

  Term lone_action() {
    cursor_.next_item();
    Term term;
    term.place = cursor_.place();
    action_and_arguments(term);
    cursor_.skip_blanks();
    if (!cursor_.at_end()) {
      cursor_.fail(cursor_.found() + " behind the action",
                   "give one action without modifiers and filters");
    }
    return term;
  }

 private:
  void item(Plan& plan) {
    const PlanPlace place = cursor_.place();
    const std::size_t start = cursor_.offset();
    if (cursor_.starts_with("->")) {
      cursor_.fail("'->' begins an item",
                   "write all terms of a rule on one line");
    }
    const std::string_view name = cursor_.take_while(is_name_character);
    if (name.empty()) {
      cursor_.fail(cursor_.found() + " where the name of a point begins",
                   "write items such as hook/training_step/module=throw(int)");
    }
    cursor_.skip_blanks();
    if (!cursor_.accept("=")) {
      cursor_.fail(
          "'=' is missing behind " + quoted(name) + ", " + cursor_.found(),
          "write name=action, or seed=number");
    }
    cursor_.skip_blanks();
    if (name == "seed") {
      seed(plan, start);
    } else {
      plan.rules.push_back(rule(name, start, place));
    }
    cursor_.skip_blanks();
    if (!cursor_.at_item_end()) {
      cursor_.fail(cursor_.found() + " behind a complete item",
                   "go on with '->', or end the item with ';' or a new line");
    }
  }

  void seed(Plan& plan, std::size_t start) {
    if (plan.seed) {
      cursor_.fail(start, "the seed is given twice", "keep one of them");
    }
    const std::size_t offset = cursor_.offset();
    std::uint64_t value = 0;
    if (!whole_number(cursor_.take_while(is_word_character), value)) {
      cursor_.fail(offset, "the seed is no whole number of 64 bits",
                   "write such as seed=42");
    }
    plan.seed = value;
  }

  Rule rule(std::string_view name, std::size_t start, const PlanPlace& place) {
    if (const auto problem = check_name(name, NameKind::kPattern)) {
      cursor_.fail(start + problem->offset,
                   "in the name " + quoted(name) + " " + problem->what,
                   problem->advice);
    }
    Rule rule{NamePattern(std::string(name)), {}, place};
    check_family(rule.name, start);
    do {
      cursor_.skip_blanks();
      rule.terms.push_back(term());
      cursor_.skip_blanks();
    } while (cursor_.accept("->"));
    return rule;
  }

  void check_family(const NamePattern& name, std::size_t start) {
    const std::string_view wanted = name.family();
    if (wanted == "**") return;
    for (const Family& family : families()) {
      if (level_matches(wanted, family.name)) return;
    }
    const auto names = words(families(), &Family::name);
    cursor_.fail(
        start, "there is no family of points " + quoted(wanted),
        did_you_mean(wanted, names, "names begin with " + join(names)));
  }

  Term term() {
    Term term;
    term.place = cursor_.place();
    while (is_digit(cursor_.peek()) || cursor_.peek() == '.') modifier(term);
    action_and_arguments(term);
    cursor_.skip_blanks();
    while (cursor_.peek() == '[') {
      filter(term);
      cursor_.skip_blanks();
    }
    return term;
  }

  void modifier(Term& term) {
    const std::size_t start = cursor_.offset();
    const std::string_view number =
        cursor_.take_while([](char c) { return is_digit(c) || c == '.'; });
    cursor_.skip_blanks();
    if (cursor_.accept("%")) {
      if (term.percent) {
        cursor_.fail(start, "a second percentage", "keep one of them");
      }
      term.percent = percentage(number, start);
    } else if (cursor_.accept("*")) {
      if (term.count) cursor_.fail(start, "a second count", "keep one of them");
      std::uint64_t count = 0;
      if (!whole_number(number, count)) {
        cursor_.fail(start, quoted(number) + " is no count",
                     "write a whole number before '*'");
      }
      term.count = count;
    } else {
      cursor_.fail(
          "the number " + quoted(number) + " has neither '%' nor '*' behind it",
          "write 50% for a chance, 3* for a count");
    }
    cursor_.skip_blanks();
  }

  double percentage(std::string_view text, std::size_t start) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] =
        std::from_chars(text.data(), end, value, std::chars_format::fixed);
    if (error != std::errc() || stop != end || value > 100) {
      cursor_.fail(start, quoted(text) + " is no percentage",
                   "write a number from 0 to 100 before '%'");
    }
    return value;
  }

  void action_and_arguments(Term& term) {
    const std::size_t start = cursor_.offset();
    const std::string_view word = cursor_.take_while(is_word_character);
    if (word.empty()) {
      cursor_.fail(cursor_.found() + " where an action is expected",
                   "write one such as throw(runtime) or off");
    }
    const Action* row = find_action(word);
    if (row == nullptr) {
      const auto names = words(actions(), &Action::word);
      cursor_.fail(start, "unknown action " + quoted(word),
                   did_you_mean(word, names, "actions are " + join(names)));
    }
    term.action = row->kind;
    std::vector<std::size_t> offsets;
    std::size_t end = cursor_.offset();
    cursor_.skip_blanks();
    if (cursor_.accept("(")) end = arguments(term, offsets);
    const ArgumentsRead read = row->read(term.arguments);
    if (!read.problem.empty()) {
      cursor_.fail(
          read.argument < offsets.size() ? offsets[read.argument] : end,
          "in " + quoted(word) + " " + read.problem, read.advice);
    }
  }

  // Returns the offset of the closing parenthesis.
  std::size_t arguments(Term& term, std::vector<std::size_t>& offsets) {
    cursor_.skip_blanks();
    if (cursor_.accept(")")) return cursor_.offset() - 1;
    while (true) {
      cursor_.skip_blanks();
      offsets.push_back(cursor_.offset());
      const bool is_quoted = cursor_.peek() == '"';
      term.arguments.push_back(cursor_.take_value());
      if (term.arguments.back().empty() && !is_quoted &&
          (cursor_.peek() == ',' || cursor_.peek() == ')')) {
        cursor_.fail("an argument is empty", "fill it in, or write \"\"");
      }
      cursor_.skip_blanks();
      if (cursor_.accept(")")) return cursor_.offset() - 1;
      if (!cursor_.accept(",")) {
        cursor_.fail("the argument is followed by neither ',' nor ')', " +
                         cursor_.found(),
                     "close the parenthesis, or put the text in '\"'");
      }
    }
  }

  void filter(Term& term) {
    cursor_.accept("[");
    cursor_.skip_blanks();
    const std::size_t start = cursor_.offset();
    const std::string_view word = cursor_.take_while(is_word_character);
    const FilterInfo* info = find_filter(word);
    if (info == nullptr) {
      const auto names = words(filter_infos(), &FilterInfo::word);
      cursor_.fail(start, "unknown filter " + quoted(word),
                   did_you_mean(word, names, "filters are " + join(names)));
    }
    const bool is_repeated = std::any_of(
        term.filters.begin(), term.filters.end(),
        [&](const Filter& other) { return other.key == info->key; });
    if (is_repeated) {
      cursor_.fail(start, "a second filter " + quoted(word),
                   "keep one of them");
    }
    cursor_.skip_blanks();
    const std::size_t value_start = cursor_.offset();
    const std::string value = cursor_.take_value();
    if (value.empty()) {
      cursor_.fail(value_start, "the filter " + quoted(word) + " has no value",
                   "write such as [epoch 2..5] or [stage train]");
    }
    Filter filter;
    filter.key = info->key;
    if (info->value == FilterValue::kText) {
      filter.text = value;
    } else {
      filter_numbers(filter, *info, value, value_start);
    }
    term.filters.push_back(std::move(filter));
    cursor_.skip_blanks();
    if (!cursor_.accept("]")) {
      cursor_.fail(
          "the filter " + quoted(word) + " is not closed, " + cursor_.found(),
          "end it with ']'");
    }
  }

  void filter_numbers(Filter& filter, const FilterInfo& info,
                      std::string_view value, std::size_t start) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    const std::size_t dots = value.find("..");
    const bool is_range = dots != std::string_view::npos;
    const bool is_read =
        read_number(value.substr(0, dots), kMax, filter.first) &&
        read_number(is_range ? value.substr(dots + 2) : value, kMax,
                    filter.last);
    if (info.value == FilterValue::kPositive) {
      if (!is_read || is_range || filter.first < 1) {
        cursor_.fail(start, quoted(value) + " is no number of hits",
                     "write such as [every 5]");
      }
    } else if (!is_read || filter.last < filter.first) {
      cursor_.fail(start, quoted(value) + " is no number and no range",
                   "write such as 3 or 2..5");
    }
  }

  static bool whole_number(std::string_view text, std::uint64_t& value) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end;
  }

  PlanCursor cursor_;
};

}  // namespace

Plan Plan::parse(std::string_view text, std::string_view source) {
  Plan plan = Parser(text, source).plan();
  plan.source = source;
  return plan;
}

Term parse_action(std::string_view text) {
  return Parser(text, "action").lone_action();
}

}  // namespace mishap::faultinject
