#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench.h"

namespace mishap::bench {
namespace {

namespace fs = std::filesystem;

// What the program reads.
void make_image(const fs::path& folder) {
  fs::create_directories(folder);
  std::ofstream image(folder / "image.pgm");
  image << "P2 8 6 255\n";
  for (int i = 0; i < 48; ++i) {
    image << (i * 37) % 256 << ' ';
  }
}

// Its output goes to a file of that folder.
void run_in(const fs::path& folder, std::vector<std::string> words) {
  const std::string output = folder / "output";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawn(&child, words.front().c_str(), &actions,
                                nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  // A sweep that finds something ends with 3.
  if (error != 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
      (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 3)) {
    std::ifstream told(output);
    throw std::runtime_error(
        words.front() + " " + words.at(1) +
        " failed: " + std::string(std::istreambuf_iterator<char>(told), {}));
  }
}

}  // namespace

// A program with LibTorch that links nothing of ours.
std::vector<Row> program_rows(const std::string& folder) {
  const fs::path build = fs::read_symlink("/proc/self/exe").parent_path();
  const std::string mishap = build / "mishap";
  const std::string program = build / "tests/program/image_fit";
  if (!fs::exists(mishap) || !fs::exists(program)) {
    throw std::runtime_error("the sweep of a program needs " + mishap +
                             " and " + program + "; build both");
  }
  const fs::path work = fs::path(folder) / "program";
  const fs::path out = fs::path(folder) / "program-out";
  make_image(work);
  const std::vector<std::string> points = {"--points", "op/**"};
  // Operators become points by a library that is compiled once.
  run_in(work, {mishap, "points", points[0], points[1], "--", program});
  run_in(work, {mishap, "sweep", points[0], points[1], "--out", out.string(),
                "--", program});
  std::ifstream file(out / "summary.json");
  const auto summary = nlohmann::json::parse(file);
  return {{.name = "program_sweep_rate",
           .figure = summary.at("cases_per_second").get<double>(),
           .target = 35,
           .unit = "cases/s",
           .at_most = false,
           .note = "each operator of an unmodified program once, one core"}};
}

}  // namespace mishap::bench
