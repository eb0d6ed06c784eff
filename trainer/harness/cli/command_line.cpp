#include <mishap/faultinject/suggestion.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/command_line.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>

namespace mishap::cli {

namespace {

// What an unset variable of a shell leaves.
const CLI::Validator& not_empty() {
  static const CLI::Validator validator(
      [](std::string& value) {
        return value.empty() ? std::string("its value is empty")
                             : std::string();
      },
      "");
  return validator;
}

}  // namespace

struct CommandLine::Parser {
  explicit Parser(std::string purpose) : app(std::move(purpose)) {}

  CLI::App app;
  std::vector<std::string> positionals;
  std::vector<std::string> names;
  std::map<std::string, std::string> planned;
};

CommandLine::CommandLine(const Invocation& invocation, std::string purpose)
    : invocation_(invocation),
      parser_(std::make_unique<Parser>(std::move(purpose))) {
  parser_->app.name(invocation.name());
  parser_->app.set_help_flag("--help,-h", "print this text");
}

CommandLine::~CommandLine() = default;

void CommandLine::positional(const std::string& name, std::string& value,
                             const std::string& help) {
  parser_->positionals.push_back(name);
  parser_->app.add_option(name, value, help)
      ->required()
      ->type_name("")
      ->check(not_empty());
}

void CommandLine::flag(const std::string& name, bool& value,
                       const std::string& help) {
  parser_->names.push_back(name);
  parser_->app.add_flag(name, value, help);
}

void CommandLine::option(const std::string& name, std::string& value,
                         const std::string& meaning, const std::string& help) {
  parser_->names.push_back(name);
  CLI::Option* const option = parser_->app.add_option(name, value, help);
  option->type_name(meaning)->take_last()->check(not_empty());
  if (!value.empty()) {
    option->capture_default_str();
  }
}

void CommandLine::option(const std::string& name,
                         std::vector<std::string>& values,
                         const std::string& meaning, const std::string& help) {
  parser_->names.push_back(name);
  parser_->app.add_option(name, values, help)
      ->type_name(meaning + " ...")
      ->check(not_empty())
      ->allow_extra_args(false);
}

void CommandLine::not_yet(const std::string& name, const std::string& instead) {
  parser_->planned[name] = instead;
}

void CommandLine::footer(const std::string& text) { parser_->app.footer(text); }

bool CommandLine::given(const std::string& name) const {
  return parser_->app.get_option(name)->count() > 0;
}

bool CommandLine::parse() {
  for (const std::string& word : invocation_.words) {
    const std::string name = word.substr(0, word.find('='));
    const auto planned = parser_->planned.find(name);
    if (planned != parser_->planned.end()) {
      throw InputError("'" + invocation_.name() + "' does not take " + name +
                       " yet: " + planned->second);
    }
  }
  const std::string help = "; see '" + invocation_.name() + " --help'";
  std::vector<std::string> words(invocation_.words.rbegin(),
                                 invocation_.words.rend());
  try {
    parser_->app.parse(std::move(words));
    return true;
  } catch (const CLI::CallForHelp&) {
    std::fputs(parser_->app.help().c_str(), stdout);
    return false;
  } catch (const CLI::ExtrasError&) {
    const std::string extra = parser_->app.remaining().front();
    if (extra.starts_with('-') && extra.size() > 1) {
      const std::vector<std::string_view> names(parser_->names.begin(),
                                                parser_->names.end());
      throw InputError(
          "'" + invocation_.name() + "' has no option '" + extra + "'; " +
          faultinject::did_you_mean(
              extra.substr(0, extra.find('=')), names,
              "'" + invocation_.name() + " --help' lists its options"));
    }
    throw InputError("'" + extra + "' is one word too many" + help);
  } catch (const CLI::RequiredError&) {
    throw InputError("'" + invocation_.name() + "' needs " +
                     parser_->positionals.front() + help);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string_view what = error.what();
    throw InputError(std::string(what.substr(0, what.find(':'))) +
                     " needs a value" + help);
  } catch (const CLI::ParseError& error) {
    throw InputError(std::string(error.what()) + help);
  }
}

}  // namespace mishap::cli
