#include <mishap/collector/hash.h>
#include <mishap/trainer/harness/program/file_clauses.h>
#include <mishap/trainer/harness/program/path_pattern.h>

#include <algorithm>

namespace mishap::program {
namespace {

constexpr auto flag(Touch touch) { return static_cast<std::uint32_t>(touch); }

class FileJudge {
 public:
  FileJudge(KeptFiles& files, const CleanFiles& clean,
            const std::vector<std::string>& globs, const std::string& folder)
      : files_(files), clean_(clean), globs_(globs), folder_(folder) {}

  FilesLeft judge() {
    const FileChanges changes = files_.compare(clean_.initial);
    FilesLeft result;
    std::size_t as_clean = 0;
    std::string state;
    for (const std::string& path : changes.removed) {
      const bool is_clean = clean_.removed.contains(path);
      as_clean += is_clean ? 1 : 0;
      if (is_atomic(path) && !is_clean) {
        result.torn.push_back(path);
      }
      state += "-" + path + '\n';
    }
    for (const auto* list : {&changes.added, &changes.changed}) {
      for (const std::string& path : *list) {
        const std::uint64_t hash = files_.hash_of(path);
        const auto left = clean_.left.find(path);
        as_clean += left != clean_.left.end() && left->second == hash ? 1 : 0;
        if (is_atomic(path) && !had(path, hash)) {
          result.torn.push_back(path);
        }
        if (list == &changes.added && is_stray(path, hash)) {
          result.stray.push_back(path);
        }
        state += "+" + path + ' ' + std::to_string(hash) + '\n';
      }
    }
    const std::size_t all =
        changes.added.size() + changes.changed.size() + changes.removed.size();
    result.is_as_clean =
        as_clean == all && all == clean_.left.size() + clean_.removed.size();
    result.state = state.empty() ? 0 : collector::fnv1a(state);
    return result;
  }

 private:
  bool is_atomic(const std::string& path) const {
    return std::ranges::any_of(globs_, [&](const std::string& glob) {
      return path_matches(glob, path, folder_);
    });
  }

  // The old content, or one that the clean run had.
  bool had(const std::string& path, std::uint64_t hash) const {
    const auto before = clean_.initial.find(path);
    if (before != clean_.initial.end() && before->second.copy &&
        content_hash(before->second.copy->path()) == hash) {
      return true;
    }
    const auto left = clean_.left.find(path);
    const auto known = clean_.versions.find(path);
    return (left != clean_.left.end() && left->second == hash) ||
           (known != clean_.versions.end() && known->second.contains(hash));
  }

  bool is_stray(const std::string& path, std::uint64_t hash) const {
    if (clean_.has_random_names || clean_.left.contains(path) ||
        clean_.plain_left.contains(plain_path(path))) {
      return false;
    }
    // Finished, and removed later by a run that goes on: no leftover of a save.
    const auto touched = clean_.touches.find(path);
    const auto known = clean_.versions.find(path);
    const bool was_finished =
        touched != clean_.touches.end() &&
        (touched->second & flag(Touch::kRemoved)) != 0 &&
        (touched->second & flag(Touch::kRenamedAway)) == 0 &&
        known != clean_.versions.end() && known->second.contains(hash);
    return !was_finished;
  }

  KeptFiles& files_;
  const CleanFiles& clean_;
  const std::vector<std::string>& globs_;
  const std::string& folder_;
};

}  // namespace

FilesLeft look_at_files(KeptFiles& files, const CleanFiles& clean,
                        const std::vector<std::string>& atomic_globs,
                        const std::string& current_folder) {
  return FileJudge(files, clean, atomic_globs, current_folder).judge();
}

}  // namespace mishap::program
