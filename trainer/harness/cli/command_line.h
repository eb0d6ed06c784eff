#pragma once

#include <mishap/trainer/harness/cli/command.h>

#include <memory>
#include <string>
#include <vector>

namespace mishap::cli {

/// Takes the words behind a command apart.
///
///     CommandLine line(invocation, "Shows records for a person.");
///     line.positional("FILE", file, "records.jsonl, a folder, or -");
///     line.flag("--json", json, "print JSON");
///     if (!line.parse()) return 0;
class CommandLine {
 public:
  CommandLine(const Invocation& invocation, std::string purpose);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// A word that has to be there.
  void positional(const std::string& name, std::string& value,
                  const std::string& help);
  void flag(const std::string& name, bool& value, const std::string& help);
  /// `meaning` stands for the value in the help, for example "DIR". What
  /// `value` holds now is the default.
  void option(const std::string& name, std::string& value,
              const std::string& meaning, const std::string& help);
  /// An option that may be given several times.
  void option(const std::string& name, std::vector<std::string>& values,
              const std::string& meaning, const std::string& help);
  /// An option that is planned and not there; using it says so.
  void not_yet(const std::string& name, const std::string& instead);
  /// Text at the end of the help.
  void footer(const std::string& text);

  /// Sets the values. False when the help was asked for and has been printed.
  /// Throws InputError naming the word at fault, with a suggestion.
  bool parse();

  /// Whether an option was given.
  bool given(const std::string& name) const;

 private:
  struct Parser;

  const Invocation& invocation_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace mishap::cli
