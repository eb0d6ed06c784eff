#include <mishap/faultinject/chunked.h>
#include <mishap/faultinject/point.h>
#include <mishap/faultinject/stable_hash.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

namespace mishap::faultinject {
namespace {

struct Entry {
  std::string name;
  std::uint64_t hash = 0;
};

class NameTable {
 public:
  static NameTable& instance() {
    static NameTable* const table = new NameTable;
    return *table;
  }

  PointId intern(std::string_view name) {
    const std::lock_guard lock(mutex_);
    if (const auto found = ids_.find(name); found != ids_.end()) {
      return found->second;
    }
    if (const auto problem = check_name(name, NameKind::kPoint)) {
      throw std::invalid_argument("'" + std::string(name) +
                                  "' is no name for a fault point: " +
                                  problem->what + "; " + problem->advice);
    }
    const PointId id{size_.load(std::memory_order_relaxed)};
    Entry* entry = entries_.make(id.value);
    if (entry == nullptr) {
      throw std::length_error("there are too many fault points for '" +
                              std::string(name) + "'");
    }
    entry->name = name;
    entry->hash = stable_hash(name);
    ids_.emplace(entry->name, id);
    size_.store(id.value + 1, std::memory_order_release);
    return id;
  }

  std::optional<PointId> find(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto found = ids_.find(name);
    if (found == ids_.end()) return std::nullopt;
    return found->second;
  }

  const Entry* at(PointId point) const noexcept {
    return point.value < size() ? entries_.find(point.value) : nullptr;
  }

  std::uint32_t size() const noexcept {
    return size_.load(std::memory_order_acquire);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string_view, PointId> ids_;
  Chunked<Entry> entries_;
  std::atomic<std::uint32_t> size_{0};
};

bool is_segment_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') ||
         std::string_view("_.:#-").find(c) != std::string_view::npos;
}

}  // namespace

PointId intern(std::string_view name) {
  return NameTable::instance().intern(name);
}

std::optional<PointId> find_point(std::string_view name) {
  return NameTable::instance().find(name);
}

std::string_view name_of(PointId point) noexcept {
  const Entry* entry = NameTable::instance().at(point);
  return entry == nullptr ? std::string_view() : entry->name;
}

std::uint64_t name_hash(PointId point) noexcept {
  const Entry* entry = NameTable::instance().at(point);
  return entry == nullptr ? 0 : entry->hash;
}

std::size_t point_count() noexcept { return NameTable::instance().size(); }

std::optional<NameProblem> check_name(std::string_view name, NameKind kind) {
  const std::size_t body =
      name.ends_with(kAfter) ? name.size() - kAfter.size() : name.size();
  std::size_t start = 0;
  while (true) {
    const std::size_t end = std::min(name.find('/', start), body);
    const std::string_view level = name.substr(start, end - start);
    if (level.empty()) {
      return NameProblem{start, "a level is empty",
                         "write letters, digits or _ . : # - there"};
    }
    for (std::size_t i = 0; i < level.size(); ++i) {
      const bool is_glob = level[i] == '*';
      if (is_glob && kind == NameKind::kPattern) continue;
      if (is_glob) {
        return NameProblem{start + i, "'*' can't be part of it",
                           "give the point's full name"};
      }
      if (!is_segment_character(level[i])) {
        return NameProblem{
            start + i,
            "'" + std::string(1, level[i]) + "' can't be part of a name",
            "use letters, digits and _ . : # -"};
      }
    }
    if (level.find("**") != std::string_view::npos && level != "**") {
      return NameProblem{start, "'**' stands for whole levels",
                         "put it between slashes, or use '*'"};
    }
    if (level.ends_with(kAfter)) {
      return NameProblem{start + level.size() - kAfter.size(),
                         "':after' stands in the middle",
                         "put it once, at the end of the whole name"};
    }
    if (end == body) return std::nullopt;
    start = end + 1;
  }
}

}  // namespace mishap::faultinject
