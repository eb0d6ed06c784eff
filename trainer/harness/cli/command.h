#pragma once

#include <functional>
#include <string>
#include <vector>

namespace mishap::cli {

/// What a person typed: `program command words...`.
struct Invocation {
  /// As messages call the program: its file name.
  std::string program;
  std::string command;
  std::vector<std::string> words;

  /// "mishap show".
  std::string name() const { return program + ' ' + command; }
};

/// One word behind a program's name.
struct Command {
  std::string name;
  /// One line for `--help`.
  std::string summary;
  /// Returns the status for main. Throws InputError for what the person can
  /// put right; Program says it in one line and returns 2.
  std::function<int(const Invocation&)> run;
};

/// A command that is planned and not there: it says so, and help leaves it out.
Command not_yet(std::string name, std::string instead);

}  // namespace mishap::cli
