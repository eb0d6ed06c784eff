#include <fcntl.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/program/clean_run.h>
#include <mishap/trainer/harness/program/descendants.h>
#include <mishap/trainer/harness/program/journal.h>
#include <mishap/trainer/harness/program/path_pattern.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <filesystem>
#include <span>
#include <system_error>

namespace mishap::program {
namespace {

namespace fs = std::filesystem;

// A folder with more files is kept at its top level only.
constexpr std::size_t kTreeFiles = 4000;

// Others put files there all the time: only what is known by name is ours.
bool is_shared_folder(const std::string& folder) {
  struct stat status {};
  return folder.empty() || folder == "/" ||
         (stat(folder.c_str(), &status) == 0 &&
          (status.st_mode & S_ISVTX) != 0);
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

class CleanRuns {
 public:
  explicit CleanRuns(Workbench& bench) : bench_(bench) {}

  CleanRun run() {
    watch_likely();
    begin_from_here();
    Sightings first = run_once();
    read_left(result_.files);
    put_back();
    narrow();
    if (first.has_torch && build_torch_part(first)) {
      first = run_once();
      put_back();
      narrow();
    }
    result_.seen = run_once();
    CleanFiles second;
    second.initial = result_.files.initial;
    read_left(second);
    take_over(second);
    put_back();
    narrow();
    compare(first, result_.seen);
    return std::move(result_);
  }

  void put_back() {
    const auto is_ours = [&](const std::string& path) {
      return result_.files.touches.contains(path);
    };
    for (const std::string& path :
         bench_.files().put_back(result_.files.initial, is_ours)) {
      result_.remarks.push_back(path +
                                " was changed by the run in which nothing "
                                "fails and could not be put back");
    }
    for (const auto& [path, flags] : result_.files.touches) {
      look_at_unkept(path, flags);
    }
  }

 private:
  // Nobody knows yet what the program changes.
  void watch_likely() {
    std::set<std::string> folders{bench_.current_folder()};
    // Not the program's own file: it writes elsewhere.
    for (const std::string& word :
         std::span(bench_.options().words).subspan(1)) {
      add_folder_of(word, folders);
      add_folder_of(word.substr(word.find('=') + 1), folders);
    }
    for (const std::string& glob : bench_.options().atomic) {
      folders.insert(folder_of_glob(glob, bench_.current_folder()));
    }
    for (const std::string& folder : folders) {
      if (is_shared_folder(folder)) {
        continue;
      }
      if (!bench_.files().watch_tree(folder, kTreeFiles)) {
        bench_.files().watch_folder(folder);
      }
    }
    watch_atomic();
  }

  void add_folder_of(const std::string& word, std::set<std::string>& folders) {
    std::error_code error;
    const fs::path path = fs::absolute(word, error).lexically_normal();
    if (word.empty() || error || !fs::exists(path, error)) {
      return;
    }
    const std::string folder = fs::is_directory(path, error)
                                   ? path.string()
                                   : parent_of(path.string());
    // A program's own place is not where it writes.
    if (!folder.starts_with("/usr") && !folder.starts_with("/bin")) {
      folders.insert(folder);
    }
  }

  void watch_atomic() {
    for (const std::string& glob : bench_.options().atomic) {
      for (const std::string& path :
           files_matching(glob, bench_.current_folder())) {
        watch(path);
      }
    }
  }

  void watch(const std::string& path) {
    bench_.files().watch_file(path);
    const std::string folder = parent_of(path);
    if (!is_shared_folder(folder)) {
      bench_.files().watch_folder(folder);
    }
  }

  void begin_from_here() {
    KeptState& initial = result_.files.initial;
    initial = bench_.files().take();
    Journal journal;
    journal.folders = bench_.files().folders();
    journal.files = bench_.files().files();
    journal.state = initial;
    write_journal(bench_.scratch_folder(), journal);
  }

  // From now on only what the program touches; where its helpers are looked at
  // in its place nobody sees what it touches itself.
  void narrow() {
    if (bench_.options().follow.empty()) {
      bench_.files().forget();
    }
    watch_atomic();
    for (const auto& [path, flags] : result_.files.touches) {
      watch(path);
    }
    begin_from_here();
  }

  Sightings run_once() {
    bench_.control().begin(bench_.order(Mode::kCount));
    clock_gettime(CLOCK_REALTIME, &begin_);
    const RunEnd end = bench_.run(Role::kProgram, std::nullopt);
    result_.time = end.time;
    result_.leaves_children |= !bench_.keeper().left_behind(0).empty();
    bench_.keeper().end_all();
    Sightings seen = read_sightings(bench_.control(), bench_.modules());
    for (const auto& [path, flags] : seen.touches) {
      result_.files.touches[path] |= flags;
    }
    for (const auto& [path, hashes] : seen.versions) {
      result_.files.versions[path].insert(hashes.begin(), hashes.end());
    }
    if (!end.is_success()) {
      throw InputError(
          "with nothing failing, " + bench_.options().words.front() + ' ' +
          text_of(end) +
          ", and only a program that succeeds can be swept; make it work "
          "first" +
          (end.errors.empty() ? "" : ". It wrote:\n" + end.errors));
    }
    return seen;
  }

  // What was touched outside of the folders that were looked at.
  void look_at_unkept(const std::string& path, std::uint32_t flags) {
    const auto& watched = bench_.files();
    struct statx now {};
    if (watched.folders().contains(parent_of(path)) ||
        watched.files().contains(path) || unkept_.contains(path) ||
        statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &now) !=
            0) {
      return;
    }
    const bool is_new =
        (now.stx_mask & STATX_BTIME) != 0 &&
        (now.stx_btime.tv_sec > begin_.tv_sec ||
         (now.stx_btime.tv_sec == begin_.tv_sec &&
          static_cast<long>(now.stx_btime.tv_nsec) > begin_.tv_nsec));
    const bool was_moved =
        (flags & static_cast<std::uint32_t>(Touch::kRenamedTo)) != 0;
    std::error_code error;
    if (is_new && !was_moved) {
      fs::remove_all(path, error);
      return;
    }
    unkept_.insert(path);
    result_.remarks.push_back(
        path +
        " was changed by the first run, before anything was known of it; the "
        "sweep begins from there");
  }

  bool build_torch_part(const Sightings& first) {
    const auto& build = bench_.options().torch_part;
    if (!build) {
      return false;
    }
    std::string problem;
    bench_.torch_part = build(first.torch_library, problem);
    if (bench_.torch_part.empty()) {
      result_.remarks.push_back(problem);
    }
    return !bench_.torch_part.empty();
  }

  void read_left(CleanFiles& files) {
    const FileChanges changes = bench_.files().compare(files.initial);
    for (const auto* list : {&changes.added, &changes.changed}) {
      for (const std::string& path : *list) {
        files.left[path] = bench_.files().hash_of(path);
        files.plain_left.insert(plain_path(path));
      }
    }
    // In a folder that is not watched as a whole.
    for (const auto& [path, flags] : result_.files.touches) {
      KeptFile now;
      if (!files.initial.contains(path) && look_at(path, now)) {
        files.left.try_emplace(path, bench_.files().hash_of(path));
        files.plain_left.insert(plain_path(path));
      }
    }
    files.removed.insert(changes.removed.begin(), changes.removed.end());
  }

  void take_over(CleanFiles& second) {
    result_.files.has_random_names =
        result_.files.plain_left != second.plain_left;
    result_.files.left = std::move(second.left);
    result_.files.plain_left = std::move(second.plain_left);
    result_.files.removed = std::move(second.removed);
  }

  void compare(const Sightings& first, const Sightings& second) {
    if (first.sequence_hash == second.sequence_hash) {
      return;
    }
    std::string where;
    for (const auto& [point, hits] : first.points) {
      const auto other = second.points.find(point);
      if (where.empty() &&
          (other == second.points.end() || other->second != hits)) {
        where =
            point + " was hit " + std::to_string(hits) +
            " times in one run and " +
            std::to_string(other == second.points.end() ? 0 : other->second) +
            " times in another";
      }
    }
    result_.difference =
        where.empty() ? "two runs hit the same points in another order, as "
                        "threads do, or a container without an order"
                      : where;
  }

  Workbench& bench_;
  CleanRun result_;
  std::set<std::string> unkept_;
  timespec begin_{};
};

}  // namespace

std::string plain_path(const std::string& path) {
  std::string plain = path.substr(0, path.rfind('/') + 1);
  bool was_digit = false;
  for (const char c : path.substr(path.rfind('/') + 1)) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!is_digit) {
      plain += c;
    } else if (!was_digit) {
      plain += '#';
    }
    was_digit = is_digit;
  }
  return plain;
}

CleanRun run_clean(Workbench& bench) {
  CleanRuns runs(bench);
  try {
    return runs.run();
  } catch (const KeeperLost&) {
    kill_descendants(getpid());
    runs.put_back();
    throw;
  } catch (...) {
    bench.keeper().end_all();
    runs.put_back();
    throw;
  }
}

}  // namespace mishap::program
