#pragma once

#include <mishap/trainer/harness/program/sightings.h>
#include <mishap/trainer/harness/program/workbench.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace mishap::program {

/// What the program does with its files when nothing fails.
struct CleanFiles {
  /// Before it runs.
  KeptState initial;
  /// What it leaves new or changed, and the hash of the content; 0 for what is
  /// no file.
  std::map<std::string, std::uint64_t> left;
  std::set<std::string> removed;
  /// The names in `left` with their numbers taken out; see plain_path().
  std::set<std::string> plain_left;
  /// Contents that files had on the way.
  std::map<std::string, std::set<std::uint64_t>> versions;
  std::map<std::string, std::uint32_t> touches;
  /// Runs leave files under names that differ in more than numbers.
  bool has_random_names = false;

  bool changes_nothing() const { return left.empty() && removed.empty(); }
};

/// What the program does when nothing fails.
struct CleanRun {
  Sightings seen;
  CleanFiles files;
  std::chrono::nanoseconds time{};
  /// Two runs differed: one sentence. Empty: they did the same.
  std::string difference;
  /// It leaves processes behind.
  bool leaves_children = false;
  /// What a person has to know: sentences.
  std::vector<std::string> remarks;
};

/// The path with each number in its last name replaced by '#'.
std::string plain_path(const std::string& path);

/// Runs the program twice with nothing failing (once more where LibTorch's
/// operators have to be built first), and puts the files back. Throws
/// InputError when it does not succeed, std::system_error when it can't be
/// started, and Stopped.
CleanRun run_clean(Workbench& bench);

}  // namespace mishap::program
