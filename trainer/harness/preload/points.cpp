#include <mishap/faultinject/pattern.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/points.h>
#include <mishap/trainer/harness/preload/private_table.h>

#include <array>
#include <exception>
#include <string>
#include <vector>

namespace mishap::preload {
namespace {

// Never destroyed: points are hit until the very end.
const std::vector<faultinject::NamePattern>* patterns = nullptr;
constinit std::array<std::atomic<std::uint32_t>, program::kPoints> plan_ids{};
constinit BusyFlag adding;

bool is_wanted(std::string_view name) {
  if (patterns == nullptr || patterns->empty()) {
    return true;
  }
  for (const faultinject::NamePattern& pattern : *patterns) {
    if (pattern.selects(name)) {
      return true;
    }
  }
  return false;
}

std::uint32_t find(std::string_view name) noexcept {
  const program::Control& control = *agent.control;
  const std::uint32_t count = control.point_count.load();
  for (std::uint32_t i = 0; i < count; ++i) {
    if (view_of(control.points[i].name) == name) {
      return i;
    }
  }
  return kNoPoint;
}

std::uint32_t add(std::string_view name) {
  program::Control& control = *agent.control;
  const std::uint32_t count = control.point_count.load();
  if (count == program::kPoints || name.size() >= 120) {
    control.overflows.fetch_add(1);
    return kNoPoint;
  }
  copy_text(name, control.points[count].name);
  control.point_count.store(count + 1);
  return count;
}

}  // namespace

constinit FixedPoint kIoOpen{"io/open"};
constinit FixedPoint kIoRead{"io/read"};
constinit FixedPoint kIoWrite{"io/write"};
constinit FixedPoint kIoFsync{"io/fsync"};
constinit FixedPoint kIoRename{"io/rename"};
constinit FixedPoint kIoClose{"io/close"};
constinit FixedPoint kIoMkdir{"io/mkdir"};
constinit FixedPoint kAllocNew{"alloc/new"};
constinit FixedPoint kAllocCpu{"alloc/cpu"};

void read_point_patterns(std::string_view lines) {
  auto read = new std::vector<faultinject::NamePattern>;
  for_each_line(lines, [&](std::string_view line) {
    read->emplace_back(std::string(line));
  });
  patterns = read;
}

std::uint32_t point_of(std::string_view name) noexcept {
  try {
    if (!is_wanted(name)) {
      return kNoPoint;
    }
    const BusyLock lock(adding);
    std::uint32_t point = lock ? find(name) : kNoPoint;
    if (lock && point == kNoPoint) {
      point = add(name);
    }
    if (point != kNoPoint && agent.work.load() == Work::kPlan) {
      plan_ids[point].store(faultinject::intern(name).value);
    }
    return point;
  } catch (const std::exception&) {
    return kNoPoint;
  }
}

bool wants_family(std::string_view family) noexcept {
  if (patterns == nullptr || patterns->empty()) {
    return true;
  }
  for (const faultinject::NamePattern& pattern : *patterns) {
    if (faultinject::level_matches(pattern.family(), family) ||
        pattern.family() == "**") {
      return true;
    }
  }
  return false;
}

std::string_view point_name(std::uint32_t point) noexcept {
  return view_of(agent.control->points[point].name);
}

faultinject::PointId plan_point(std::uint32_t point) noexcept {
  return {plan_ids[point].load(std::memory_order_relaxed)};
}

}  // namespace mishap::preload
