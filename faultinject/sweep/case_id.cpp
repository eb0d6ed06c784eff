#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/sweep/case_id.h>

#include <charconv>
#include <system_error>

namespace mishap::faultinject::sweep {
namespace {

bool read_number(std::string_view text, std::uint64_t& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end && number > 0;
}

bool read_hit(std::string_view text, HitName& hit) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  hit.point = text.substr(0, colon);
  return !check_name(hit.point, NameKind::kPoint) &&
         read_number(text.substr(colon + 1), hit.index);
}

// Cuts `:mode`, and of a pair `:mode+second`, off the end. An action's text may
// hold anything; it stands in front of the mode, so the last one counts.
bool take_mode(std::string_view& text, Options& options) {
  for (const Mode mode : {Mode::kTransient, Mode::kPersistent}) {
    const std::string word = ":" + std::string(to_string(mode));
    std::string_view rest = text;
    HitName second;
    if (const std::size_t plus = text.rfind(word + "+");
        plus != std::string_view::npos &&
        read_hit(text.substr(plus + word.size() + 1), second)) {
      rest = text.substr(0, plus + word.size());
      options.only_second = second;
      options.pairs = true;
    }
    if (!rest.ends_with(word)) continue;
    options.modes = {mode};
    text = rest.substr(0, rest.size() - word.size());
    return true;
  }
  return false;
}

bool is_action(std::string_view text) {
  try {
    parse_action(text);
    return true;
  } catch (const PlanError&) {
    return false;
  }
}

// What is left is `point:hit:action`; a point's name may hold colons and digits
// too, so only what makes all three count is the right cut.
bool read_rest(std::string_view text, Options& options) {
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos;
       colon = text.find(':', colon + 1)) {
    const std::size_t end = text.find(':', colon + 1);
    if (end == std::string_view::npos) return false;
    HitName first;
    const std::string_view action = text.substr(end + 1);
    if (read_hit(text.substr(0, end), first) && is_action(action)) {
      options.only = first;
      options.actions = {std::string(action)};
      return true;
    }
  }
  return false;
}

}  // namespace

void choose_case(Options& options, std::string_view id) {
  std::string_view rest = id;
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos || !take_mode(rest, options) ||
      colon >= rest.size() || !read_rest(rest.substr(colon + 1), options)) {
    throw SweepError("'" + std::string(id) +
                     "' is no id of a case; cases.jsonl holds them, such as "
                     "'fit:hook/setup/data:1:throw(runtime):transient'");
  }
  options.entry_points = {std::string(id.substr(0, colon))};
}

}  // namespace mishap::faultinject::sweep
