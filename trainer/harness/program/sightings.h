#pragma once

#include <mishap/trainer/harness/program/control_file.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mishap::program {

/// The files of code that any run of the program had, each once.
class ModuleList {
 public:
  struct Module {
    std::string path;
    std::string build_id;
  };
  static constexpr std::uint32_t kNone = kNoModule;

  std::uint32_t index_of(const std::string& path, const std::string& build_id);
  const std::vector<Module>& all() const { return modules_; }

 private:
  std::vector<Module> modules_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> indices_;
};

/// A return address in one of the modules of a ModuleList.
struct Place {
  std::uint32_t module = ModuleList::kNone;
  std::uint64_t offset = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// A distinct call stack of a point.
struct SeenStack {
  std::string point;
  /// Innermost first.
  std::vector<Place> frames;
  std::string python;
  std::string path;
  std::uint64_t first_hit = 0;
  std::uint64_t hits = 0;
};

/// What a run with nothing failing did.
struct Sightings {
  std::map<std::string, std::uint64_t> points;
  /// In the order in which they were first hit.
  std::vector<SeenStack> stacks;
  /// Flags of Touch by path.
  std::map<std::string, std::uint32_t> touches;
  std::map<std::string, std::set<std::uint64_t>> versions;
  std::uint64_t hits = 0;
  std::uint64_t sequence_hash = 0;
  std::uint32_t images = 0;
  bool has_python = false;
  bool has_torch = false;
  bool has_overflown = false;
  std::string torch_problem;
  /// libtorch_cpu, where it was mapped.
  std::string torch_library;
};

/// What the agent told of a case.
struct FaultStory {
  bool has_fired = false;
  std::vector<Place> hit_frames;
  std::string hit_python;
  std::string path;
  bool has_thrown = false;
  std::string thrown_type;
  std::string thrown_text;
  std::vector<Place> throw_frames;
  CatchKind catch_kind = CatchKind::kNone;
  std::vector<Place> catch_frames;
  std::string catch_python;
  std::uint32_t threads_left = 0;
};

Sightings read_sightings(const ControlFile& control, ModuleList& modules);
FaultStory read_story(const ControlFile& control, ModuleList& modules);
/// The paths that were touched so far.
std::map<std::string, std::uint32_t> read_touches(const ControlFile& control);

/// "a socket, threads" of Obstacle flags.
std::string obstacles_text(std::uint32_t flags);

}  // namespace mishap::program
