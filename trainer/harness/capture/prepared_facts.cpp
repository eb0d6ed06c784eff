#include <mishap/collector/modules.h>
#include <mishap/trainer/harness/capture/prepared_facts.h>
#include <mishap/trainer/harness/capture/reproduce.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace mishap {
namespace {

// By index of the module. Never changed once it is published, never destroyed:
// a handler reads it at any time.
using BuildIds = std::vector<std::string>;

constinit std::mutex preparing;
constinit std::atomic<const BuildIds*> build_ids{nullptr};
constinit std::atomic<const collector::RunFacts*> facts{nullptr};

// A module keeps its index, and its build-id: only more of them make it old.
void prepare_build_ids() {
  const BuildIds* const before = build_ids.load();
  if (before == nullptr) {
    collector::refresh_modules();
  } else if (before->size() == collector::module_count()) {
    return;
  }
  auto* const made = new BuildIds;
  for (std::size_t i = 0; i < collector::module_count(); ++i) {
    made->push_back(collector::module_at(i).build_id_hex());
  }
  build_ids.store(made);
}

}  // namespace

const collector::RunFacts& run_facts() {
  static const auto* const gathered =
      new collector::RunFacts(collector::RunFacts::gather());
  facts.store(gathered);
  return *gathered;
}

void prepare_facts() noexcept {
  try {
    const std::lock_guard lock(preparing);
    run_facts();
    prepare_build_ids();
    prepare_reproduce();
  } catch (...) {
    // For want of memory a crash leaves its record without them.
  }
}

void fill_prepared(collector::RunRow& row) noexcept {
  if (const collector::RunFacts* const known = facts.load()) {
    known->fill(row);
  }
}

std::size_t fill_prepared_modules(
    std::span<const int> modules,
    std::span<collector::RunModule> out) noexcept {
  const BuildIds* const known = build_ids.load();
  std::size_t count = 0;
  for (const int index : modules) {
    if (count == out.size()) {
      break;
    }
    const auto at = static_cast<std::size_t>(index);
    const collector::Module& module = collector::module_at(at);
    collector::RunModule& row = out[count++];
    row = {};
    row.path = module.path;
    row.load_address = module.load_address;
    row.size = module.size();
    if (known != nullptr && at < known->size()) {
      row.build_id = (*known)[at];
    }
  }
  return count;
}

}  // namespace mishap
