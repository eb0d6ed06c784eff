#include <mishap/trainer/harness/capture/reproduce.h>
#include <mishap/trainer/harness/cli/torch_part.h>
#include <mishap/trainer/harness/program/command_text.h>

namespace mishap::program {

std::string shell_line(const std::vector<std::string>& words) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+"
      ",";
  std::string line;
  for (const std::string& word : words) {
    const bool is_plain =
        !word.empty() && word.find_first_not_of(kPlain) == std::string::npos;
    line += (line.empty() ? "" : " ") + (is_plain ? word : shell_quoted(word));
  }
  return line;
}

std::string run_command_text(const std::string& spec,
                             const std::vector<std::string>& files,
                             const std::vector<std::string>& words) {
  std::vector<std::string> all{cli::front_program(), "run", "--faults", spec};
  for (const std::string& glob : files) {
    all.insert(all.end(), {"--files", glob});
  }
  all.emplace_back("--");
  all.insert(all.end(), words.begin(), words.end());
  return shell_line(all);
}

}  // namespace mishap::program
