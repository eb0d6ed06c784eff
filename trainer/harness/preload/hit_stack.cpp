#include <mishap/collector/hash.h>
#include <mishap/collector/resolve/capture.h>
#include <mishap/faultinject/stable_hash.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/code_places.h>
#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/hit_stack.h>
#include <mishap/trainer/harness/preload/points.h>
#include <mishap/trainer/harness/preload/private_table.h>

#include <algorithm>

namespace mishap::preload {
namespace {

constinit NumberTable<program::kStacks * 2> numbers;
constinit BusyFlag adding;
constinit std::array<std::atomic<std::uint64_t>, program::kPoints>
    name_hashes{};

std::uint64_t name_hash(std::uint32_t point) noexcept {
  std::uint64_t hash = name_hashes[point].load(std::memory_order_relaxed);
  if (hash == 0) {
    hash = collector::fnv1a(point_name(point));
    name_hashes[point].store(hash, std::memory_order_relaxed);
  }
  return hash;
}

program::StackEntry* add(const HitStack& stack, std::uint32_t point,
                         std::uint64_t hit, std::uint32_t path) noexcept {
  program::Control& control = *agent.control;
  const BusyLock lock(adding);
  const std::uint32_t count = control.stack_count.load();
  if (!lock || count == program::kStacks) {
    control.overflows.fetch_add(1);
    return nullptr;
  }
  // Another thread may have been quicker.
  const std::uint32_t known = numbers.find(stack.hash);
  if (known < count) {
    return &control.stacks[known];
  }
  program::StackEntry& entry = control.stacks[count];
  entry.hash = stack.hash;
  entry.point = point;
  entry.first_hit = hit;
  entry.hits.store(0);
  entry.frame_count = places_of(stack.trace, entry.frames);
  entry.python = stack.python.keep();
  entry.path = path;
  control.stack_count.store(count + 1);
  numbers.add(stack.hash, count);
  return &entry;
}

}  // namespace

void HitStack::take(std::uint32_t point, const void* caller) noexcept {
  collector::capture_stack_from(trace, caller);
  hash = name_hash(point);
  for (std::size_t i = 0; i < trace.size; ++i) {
    const PlaceFound found = place_of(trace.addresses[i]);
    is_of_loader = is_of_loader || found.is_loader;
    hash = faultinject::chain_hash(hash, found.hash);
  }
  if (!is_of_loader) {
    python.take();
    if (python.size > 0) {
      hash = faultinject::chain_hash(hash, python.hash);
    }
  }
  hash = faultinject::mix(hash) | 1;
}

void count_stack(const HitStack& stack, std::uint32_t point, std::uint64_t hit,
                 std::uint32_t path) noexcept {
  const std::uint32_t known = numbers.find(stack.hash);
  program::StackEntry* const entry = known < program::kStacks
                                         ? &agent.control->stacks[known]
                                         : add(stack, point, hit, path);
  if (entry != nullptr) {
    entry->hits.fetch_add(1, std::memory_order_relaxed);
  }
}

std::uint32_t places_of(
    const collector::RawTrace& trace,
    std::array<program::CodePlace, program::StackEntry::kFrames>&
        out) noexcept {
  const std::size_t count = std::min<std::size_t>(trace.size, out.size());
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = place_of(trace.addresses[i]).place;
  }
  return static_cast<std::uint32_t>(count);
}

bool make_stack_table() noexcept {
  if (!numbers.make()) {
    return false;
  }
  program::Control& control = *agent.control;
  const std::uint32_t count =
      std::min<std::uint32_t>(control.stack_count.load(), program::kStacks);
  for (std::uint32_t i = 0; i < count; ++i) {
    numbers.add(control.stacks[i].hash, i);
  }
  return true;
}

}  // namespace mishap::preload
