#pragma once

#include <fcntl.h>
#include <mishap/trainer/harness/guard.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../temp_folder.h"

namespace mishap::testing {

/// What a program left.
struct Ended {
  /// 128 + n when signal n ended it.
  int status = -1;
  std::vector<nlohmann::json> records;
  std::vector<nlohmann::json> rows;
  std::string standard_error;
};

/// A program in a process and with a records folder of its own, both made by
/// fork() of the test.
class ChildProgram {
 public:
  /// Runs `program`, whose result the process exits with.
  Ended run(const std::function<int()>& program) const {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      setenv("MISHAP_RECORDS", records().c_str(), 1);
      const int file =
          open(errors().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(file, STDERR_FILENO);
      // The handlers of the test are its own.
      std::exit(program());
    }
    int status = 0;
    waitpid(child, &status, 0);
    Ended ended;
    ended.status =
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ended.records = lines("records.jsonl");
    ended.rows = lines("runs.jsonl");
    std::ifstream in(errors());
    ended.standard_error = {std::istreambuf_iterator<char>(in), {}};
    return ended;
  }

  std::string file(const std::string& name) const {
    return folder_.path() + "/" + name;
  }

 private:
  std::string records() const { return file("records"); }
  std::string errors() const { return file("stderr"); }

  std::vector<nlohmann::json> lines(const std::string& name) const {
    std::vector<nlohmann::json> found;
    std::ifstream in(records() + "/" + name);
    for (std::string line; std::getline(in, line);) {
      found.push_back(nlohmann::json::parse(line));
    }
    return found;
  }

  TempFolder folder_;
};

/// "step component outcome" of each piece of a record's cleanup.
inline std::vector<std::string> cleanup_of(const nlohmann::json& record) {
  std::vector<std::string> pieces;
  for (const nlohmann::json& piece : record["cleanup"]) {
    std::string text = piece["step"];
    text += ' ';
    text += piece["component"].is_null() ? "-" : piece["component"];
    text += ' ';
    text += piece["outcome"];
    pieces.push_back(text);
  }
  return pieces;
}

}  // namespace mishap::testing
