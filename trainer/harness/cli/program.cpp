#include <fcntl.h>
#include <mishap/collector/build_info.h>
#include <mishap/collector/reader.h>
#include <mishap/faultinject/plan_error.h>
#include <mishap/faultinject/suggestion.h>
#include <mishap/faultinject/sweep/options.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/github.h>
#include <mishap/trainer/harness/cli/program.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace mishap::cli {
namespace {

constexpr int kBadInput = 2;

int complain(std::string_view program, const char* what, int status) noexcept {
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(program.size()),
               program.data(), what);
  if (github::is_here()) {
    github::annotate(what);
  }
  return status;
}

std::string listed(
    const std::vector<std::pair<std::string, std::string>>& rows) {
  std::size_t width = 0;
  for (const auto& row : rows) {
    width = std::max(width, row.first.size());
  }
  std::string text;
  for (const auto& [name, summary] : rows) {
    text += "  " + name + std::string(width - name.size() + 3, ' ') + summary +
            '\n';
  }
  return text;
}

}  // namespace

Command not_yet(std::string name, std::string instead) {
  std::string summary = name + " does not exist yet: " + instead;
  return {std::move(name), summary,
          [summary](const Invocation&) -> int { throw InputError(summary); }};
}

int with_exit_status(std::string_view program,
                     const std::function<int()>& work) noexcept {
  try {
    return work();
  } catch (const InputError& error) {
    return complain(program, error.what(), kBadInput);
  } catch (const faultinject::PlanError& error) {
    return complain(program, error.what(), kBadInput);
  } catch (const faultinject::sweep::SweepError& error) {
    return complain(program, error.what(), kBadInput);
  } catch (const collector::BadRecord& error) {
    return complain(program, error.what(), kBadInput);
  } catch (const Interrupted& interrupted) {
    return complain(program, interrupted.what(), 128 + interrupted.signal());
  } catch (const ContractViolated& error) {
    return complain(program, error.what(), 3);
  } catch (const std::bad_alloc&) {
    return complain(program, "out of memory", 1);
  } catch (const std::exception& error) {
    return complain(program, error.what(), 1);
  } catch (...) {
    return complain(program, "an exception that is no std::exception", 1);
  }
}

// What was printed may be all that was wanted.
int with_output_written(int status, std::string_view program) noexcept {
  errno = 0;
  if ((std::fflush(stdout) == 0 && std::ferror(stdout) == 0) || status != 0) {
    return status;
  }
  if (errno == 0) {
    // It failed earlier, while something was printed; asked once more it says
    // why.
    [[maybe_unused]] const ssize_t again = write(STDOUT_FILENO, "\n", 1);
  }
  const std::string reason =
      errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  return complain(program,
                  ("standard output cannot be written" + reason).c_str(), 1);
}

// A file opened later must not get the number of a stream that was closed, or
// what is printed lands in it. Read-only: writing says so.
void keep_standard_numbers() noexcept {
  for (int number = 0; number <= STDERR_FILENO; ++number) {
    if (fcntl(number, F_GETFD) == -1 && errno == EBADF) {
      [[maybe_unused]] const int opened = open("/dev/null", O_RDONLY);
    }
  }
}

std::string program_name(int argc, char** argv) {
  const std::string path = argc > 0 ? argv[0] : "";
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.empty() ? "mishap" : name;
}

std::string version_text() {
  const collector::BuildInfo build = collector::build_info();
  std::string text(build.version);
  text += " (";
  text += build.compiler;
  if (!build.type.empty()) {
    text += ", ";
    text += build.type;
  }
  return text + ')';
}

Program::Program(std::string name, std::string purpose, std::string version)
    : name_(std::move(name)),
      purpose_(std::move(purpose)),
      version_(std::move(version)) {}

void Program::add(Command command) {
  commands_.push_back({std::move(command), true});
}

void Program::add_hidden(Command command) {
  commands_.push_back({std::move(command), false});
}

void Program::add_section(
    std::string title, std::vector<std::pair<std::string, std::string>> lines) {
  sections_.push_back({std::move(title), std::move(lines)});
}

std::string Program::help() const {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Entry& entry : commands_) {
    if (entry.is_listed) {
      rows.emplace_back(entry.command.name, entry.command.summary);
    }
  }
  std::string text = purpose_ + "\n\nusage: " + name_ +
                     " COMMAND [options]\n\ncommands:\n" + listed(rows);
  for (const Section& section : sections_) {
    text += '\n' + section.title + ":\n" + listed(section.lines);
  }
  text += "\n'" + name_ + " COMMAND --help' tells more about one; '" + name_ +
          " --version' prints the version.\n"
          "Exit status: 0 success, 1 failure, 2 bad input, 3 contract "
          "violated, 128+n signal n.\n";
  return text;
}

const Command& Program::find(const std::string& name) const {
  std::vector<std::string_view> names;
  for (const Entry& entry : commands_) {
    if (entry.command.name == name) {
      return entry.command;
    }
    if (entry.is_listed) {
      names.push_back(entry.command.name);
    }
  }
  throw InputError(
      "there is no command '" + name + "'; " +
      faultinject::did_you_mean(
          name, names, "the commands are " + faultinject::join(names)));
}

int Program::main(int argc, char** argv) const {
  keep_standard_numbers();
  const int status = with_exit_status(name_, [&] {
    if (argc < 2) {
      std::fputs(help().c_str(), stderr);
      return kBadInput;
    }
    Invocation invocation;
    invocation.program = name_;
    invocation.command = argv[1];
    invocation.words.assign(argv + 2, argv + argc);
    if (invocation.command == "help" && !invocation.words.empty()) {
      invocation.command = invocation.words.front();
      invocation.words = {"--help"};
    }
    const std::string& command = invocation.command;
    if (command == "--help" || command == "-h" || command == "help") {
      std::fputs(help().c_str(), stdout);
      return 0;
    }
    if (command == "--version") {
      std::printf("%s %s\n", name_.c_str(), version_.c_str());
      return 0;
    }
    return find(command).run(invocation);
  });
  return with_output_written(status, name_);
}

}  // namespace mishap::cli
