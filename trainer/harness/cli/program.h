#pragma once

#include <mishap/trainer/harness/cli/command.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mishap::cli {

/// A program made of commands.
class Program {
 public:
  /// `name` stands in messages, `version` is what `--version` prints.
  Program(std::string name, std::string purpose, std::string version);

  void add(Command command);
  /// A command that help does not list.
  void add_hidden(Command command);
  /// Lines of `name  text` under a title, at the end of the help.
  void add_section(std::string title,
                   std::vector<std::pair<std::string, std::string>> lines);

  /// Runs the command that argv names. Never throws: what a command throws
  /// becomes one line on stderr and a status, 2 for bad input and 1 for the
  /// rest.
  int main(int argc, char** argv) const;

 private:
  std::string help() const;
  const Command& find(const std::string& name) const;

  struct Entry {
    Command command;
    bool is_listed;
  };
  struct Section {
    std::string title;
    std::vector<std::pair<std::string, std::string>> lines;
  };

  std::string name_;
  std::string purpose_;
  std::string version_;
  std::vector<Entry> commands_;
  std::vector<Section> sections_;
};

/// Runs `work` and turns what it throws into a line on stderr and a status.
int with_exit_status(std::string_view program,
                     const std::function<int()>& work) noexcept;

/// The file name in argv[0].
std::string program_name(int argc, char** argv);

/// "0.1.0 (GCC 12.2.0, RelWithDebInfo)".
std::string version_text();

}  // namespace mishap::cli
