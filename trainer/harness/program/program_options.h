#pragma once

#include <mishap/faultinject/pattern.h>
#include <mishap/faultinject/sweep/options.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mishap::program {

/// What a person asked for of a program.
struct ProgramOptions {
  std::vector<std::string> words;
  /// points, modes, recovers, shard, budget, seed, known, out; `actions` is
  /// empty for each point's own.
  faultinject::sweep::Options sweep;
  /// As typed, for the agent.
  std::vector<std::string> point_globs;
  /// Every hit is a case, not every distinct stack.
  bool every_hit = false;
  bool no_fork = false;
  /// How many cases are tried at a time, each job in copies of the files.
  std::size_t jobs = 1;
  std::vector<std::string> atomic;
  std::vector<std::string> files;
  std::vector<std::string> follow;
  std::string check;
  /// Of a case; none: ten times the clean run, at least ten seconds.
  std::optional<std::chrono::milliseconds> limit;
  /// File of the stacks that earlier sweeps tried.
  std::string stacks;
  /// Variables that load the agent into the program.
  std::vector<std::pair<std::string, std::string>> preload;
  /// Gives the library with LibTorch's operator points for that libtorch_cpu;
  /// else a sentence why there is none. Empty: operators are no points.
  std::function<std::string(const std::string& library, std::string& problem)>
      torch_part;
  /// The command that judges one case again, by its id.
  std::function<std::string(const std::string& id)> repeat;

  /// Cases are children forked at the hit where the program allows it. Not with
  /// `follow`: what comes of a helper's fault is told by the program.
  bool forks() const noexcept { return !no_fork && follow.empty(); }
};

}  // namespace mishap::program
