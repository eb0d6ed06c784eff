#include <mishap/trainer/harness/program/sightings.h>

#include <algorithm>
#include <array>

namespace mishap::program {
namespace {

class PlaceReader {
 public:
  PlaceReader(const Control& control, ModuleList& modules)
      : control_(control), modules_(modules) {}

  template <std::size_t kSize>
  std::vector<Place> read(const std::array<CodePlace, kSize>& frames,
                          std::uint32_t count) {
    std::vector<Place> places;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, kSize); ++i) {
      places.push_back({index_of(frames[i].module), frames[i].offset});
    }
    return places;
  }

 private:
  std::uint32_t index_of(std::uint32_t module) {
    if (module >= std::min<std::size_t>(control_.module_count, kModules)) {
      return ModuleList::kNone;
    }
    const auto [known, is_new] = indices_.try_emplace(module, 0);
    if (is_new) {
      const ModuleEntry& entry = control_.modules[module];
      known->second =
          modules_.index_of(text_of(entry.path), text_of(entry.build_id));
    }
    return known->second;
  }

  const Control& control_;
  ModuleList& modules_;
  std::map<std::uint32_t, std::uint32_t> indices_;
};

// An injected exception is thrown by the agent: its own frames come before
// those of the call that fails.
void drop_agent(std::vector<Place>& frames, const ModuleList& modules) {
  const auto is_agent = [&](const Place& place) {
    if (place.module >= modules.all().size()) {
      return false;
    }
    const std::string& path = modules.all()[place.module].path;
    return path.ends_with("/libmishap_preload.so") ||
           path.find("/mishap/operators-") != std::string::npos;
  };
  frames.erase(frames.begin(), std::ranges::find_if_not(frames, is_agent));
}

}  // namespace

std::uint32_t ModuleList::index_of(const std::string& path,
                                   const std::string& build_id) {
  const auto [known, is_new] = indices_.try_emplace(
      std::pair(path, build_id), static_cast<std::uint32_t>(modules_.size()));
  if (is_new) {
    modules_.push_back({path, build_id});
  }
  return known->second;
}

std::map<std::string, std::uint32_t> read_touches(const ControlFile& control) {
  std::map<std::string, std::uint32_t> touches;
  const std::size_t count =
      std::min<std::size_t>(control->touch_count, kTouches);
  for (std::size_t i = 0; i < count; ++i) {
    const TouchEntry& entry = control->touches[i];
    const std::string path = control.text(entry.path);
    if (path.starts_with('/')) {
      touches[path] |= entry.touches;
    }
  }
  return touches;
}

Sightings read_sightings(const ControlFile& control, ModuleList& modules) {
  Sightings seen;
  PlaceReader places(*control, modules);
  const std::size_t points =
      std::min<std::size_t>(control->point_count, kPoints);
  for (std::size_t i = 0; i < points; ++i) {
    const PointEntry& point = control->points[i];
    if (point.hits > 0) {
      seen.points[text_of(point.name)] += point.hits;
    }
  }
  const std::size_t stacks =
      std::min<std::size_t>(control->stack_count, kStacks);
  for (std::size_t i = 0; i < stacks; ++i) {
    const StackEntry& entry = control->stacks[i];
    if (entry.point >= points || entry.first_hit == 0) {
      continue;
    }
    SeenStack& stack = seen.stacks.emplace_back();
    stack.point = text_of(control->points[entry.point].name);
    stack.frames = places.read(entry.frames, entry.frame_count);
    stack.python = control.text(entry.python);
    stack.path = control.text(entry.path);
    stack.first_hit = entry.first_hit;
    stack.hits = entry.hits;
  }
  seen.touches = read_touches(control);
  const std::size_t versions =
      std::min<std::size_t>(control->version_count, kVersions);
  for (std::size_t i = 0; i < versions; ++i) {
    const VersionEntry& entry = control->versions[i];
    seen.versions[control.text(entry.path)].insert(entry.hash);
  }
  const std::size_t count =
      std::min<std::size_t>(control->module_count, kModules);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string path = text_of(control->modules[i].path);
    if (path.find("/libtorch_cpu.so") != std::string::npos) {
      seen.torch_library = path;
    }
  }
  seen.hits = control->hits;
  seen.sequence_hash = control->sequence_hash;
  seen.images = control->images;
  seen.has_python = control->has_python != 0;
  seen.has_torch = control->has_torch != 0;
  seen.has_overflown = control->overflows != 0;
  seen.torch_problem = text_of(control->torch_problem);
  return seen;
}

FaultStory read_story(const ControlFile& control, ModuleList& modules) {
  PlaceReader places(*control, modules);
  const CaseReport& report = control->report;
  FaultStory story;
  story.has_fired = report.has_fired != 0;
  story.hit_frames = places.read(report.hit_frames, report.hit_frame_count);
  story.hit_python = control.text(report.hit_python);
  story.path = control.text(report.path);
  story.has_thrown = report.has_thrown != 0;
  if (story.has_thrown) {
    story.thrown_type = text_of(report.thrown_type);
    story.thrown_text = text_of(report.thrown_text);
    story.throw_frames =
        places.read(report.throw_frames, report.throw_frame_count);
    drop_agent(story.throw_frames, modules);
  }
  story.catch_kind = static_cast<CatchKind>(report.catch_kind.load());
  story.catch_frames =
      places.read(report.catch_frames, report.catch_frame_count);
  story.catch_python = control.text(report.catch_python);
  story.threads_left = report.threads_left;
  return story;
}

std::string obstacles_text(std::uint32_t flags) {
  constexpr std::array<std::pair<Obstacle, const char*>, 7> kWords{
      {{Obstacle::kThreads, "it has several threads"},
       {Obstacle::kChildren, "it has children"},
       {Obstacle::kSockets, "it has a socket open"},
       {Obstacle::kPipes, "it has a pipe open"},
       {Obstacle::kDevice, "it uses a device"},
       {Obstacle::kSharedMemory, "it shares writable memory"},
       {Obstacle::kTimers, "a timer of it runs"}}};
  std::string text;
  for (const auto& [flag, word] : kWords) {
    if ((flags & static_cast<std::uint32_t>(flag)) != 0) {
      text += (text.empty() ? "" : ", ") + std::string(word);
    }
  }
  return text;
}

}  // namespace mishap::program
