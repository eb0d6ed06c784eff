#include <mishap/collector/build_info.h>
#include <mishap/collector/redact.h>
#include <mishap/collector/run_facts.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace mishap::collector {
namespace {

constexpr std::array<std::string_view, 6> kAllowedPrefixes = {
    "CUDA_", "TORCH_", "OMP_", "NCCL_", "MISHAP_", "SLURM_"};
constexpr std::array<std::string_view, 3> kAllowedNames = {"RANK", "WORLD_SIZE",
                                                           "LOCAL_RANK"};

bool is_allowed(std::string_view name) {
  for (const std::string_view prefix : kAllowedPrefixes) {
    if (name.starts_with(prefix)) return true;
  }
  for (const std::string_view allowed : kAllowedNames) {
    if (name == allowed) return true;
  }
  return false;
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : value;
}

std::optional<std::int32_t> number(std::string_view text) {
  std::int32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool is_number = error == std::errc() && stop == end && value >= 0;
  return is_number ? std::optional(value) : std::nullopt;
}

// By which variables a job is known. The innermost sort that says most of the
// job comes first: torchrun runs inside a job of Slurm, a job of CI in a pod.
struct Scheduler {
  std::string_view name;
  const char* id;
  // Has to be set too, where the name of the other is anybody's.
  const char* mark;
  const char* step;
  const char* nodes;
};
constexpr const char* kNone = "";
constexpr std::array<Scheduler, 9> kSchedulers = {{
    {"slurm", "SLURM_JOB_ID", "SLURM_JOB_ID", "SLURM_STEP_ID",
     "SLURM_JOB_NODELIST"},
    {"pbs", "PBS_JOBID", "PBS_JOBID", "PBS_ARRAY_INDEX", kNone},
    {"lsf", "LSB_JOBID", "LSB_JOBID", "LSB_JOBINDEX", "LSB_HOSTS"},
    {"sge", "JOB_ID", "SGE_CELL", "SGE_TASK_ID", kNone},
    {"torchrun", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RUN_ID",
     "TORCHELASTIC_RESTART_COUNT", kNone},
    {"github_actions", "GITHUB_RUN_ID", "GITHUB_ACTIONS", "GITHUB_JOB", kNone},
    {"gitlab_ci", "CI_JOB_ID", "GITLAB_CI", "CI_JOB_STAGE", kNone},
    {"jenkins", "BUILD_TAG", "JENKINS_URL", "STAGE_NAME", "NODE_NAME"},
    {"kubernetes", "HOSTNAME", "KUBERNETES_SERVICE_HOST", kNone, "NODE_NAME"},
}};

// Rank and world size, as each launcher names them.
constexpr std::array<std::pair<const char*, const char*>, 4> kRanks = {{
    {"RANK", "WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
}};

bool exists(const char* path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

std::string_view container() {
  if (!variable("KUBERNETES_SERVICE_HOST").empty()) return "kubernetes";
  if (!variable("APPTAINER_CONTAINER").empty() ||
      !variable("SINGULARITY_CONTAINER").empty()) {
    return "apptainer";
  }
  if (exists("/run/.containerenv")) return "podman";
  if (exists("/.dockerenv")) return "docker";
  return variable("container").empty() ? std::string_view{} : "other";
}

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// "--api-key=abc" keeps its name only.
std::string redacted_argument(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos ||
      !is_secret_name(argument.substr(0, equals))) {
    return std::string(argument);
  }
  return std::string(argument.substr(0, equals + 1)) + std::string(kRedacted);
}

}  // namespace

RunFacts RunFacts::gather() {
  RunFacts facts;
  facts.read_host();
  facts.read_job();
  facts.read_rank();
  facts.read_command_line();
  facts.read_environment();
  return facts;
}

void RunFacts::fill(RunRow& row) const noexcept {
  const BuildInfo build = build_info();
  row.build.mishap = build.version;
  row.build.compiler = build.compiler;
  row.build.type = build.type;
  row.host = host_;
  row.job = job_;
  row.pid = getpid();
  row.working_directory = working_directory_;
  row.command_line = command_line_;
  row.environment = environment_;
}

std::string_view RunFacts::keep(std::string text) {
  return texts_.emplace_back(std::move(text));
}

void RunFacts::read_host() {
  utsname names{};
  if (uname(&names) == 0) {
    host_.name = keep(names.nodename);
    host_.system = keep(std::string(names.sysname) + " " + names.release + " " +
                        names.machine);
  }
  if (const long cpus = sysconf(_SC_NPROCESSORS_ONLN); cpus > 0) {
    host_.cpus = cpus;
  }
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) {
    host_.memory_bytes = std::int64_t{pages} * page_bytes;
  }
  std::error_code error;
  const auto path = std::filesystem::current_path(error);
  if (!error) working_directory_ = keep(path.string());
}

void RunFacts::read_job() {
  for (const Scheduler& scheduler : kSchedulers) {
    const std::string_view id = variable(scheduler.id);
    if (id.empty() || variable(scheduler.mark).empty()) continue;
    job_.scheduler = scheduler.name;
    job_.id = keep(std::string(id));
    job_.step = keep(std::string(variable(scheduler.step)));
    job_.nodes = keep(std::string(variable(scheduler.nodes)));
    break;
  }
  job_.container = container();
}

void RunFacts::read_rank() {
  for (const auto& [rank, size] : kRanks) {
    rank_ = number(variable(rank));
    if (rank_) {
      world_size_ = number(variable(size));
      return;
    }
  }
}

void RunFacts::read_command_line() {
  const std::string all = read_file("/proc/self/cmdline");
  bool value_is_secret = false;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::string_view argument = all.c_str() + begin;
    begin += argument.size() + 1;
    command_line_.push_back(
        value_is_secret ? kRedacted : keep(redacted_argument(argument)));
    // The value of "--api-key abc" is the argument after it.
    value_is_secret = argument.starts_with("-") &&
                      argument.find('=') == std::string_view::npos &&
                      is_secret_name(argument);
  }
}

void RunFacts::read_environment() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    if (!is_allowed(name)) continue;
    environment_.push_back({keep(std::string(name)),
                            is_secret_name(name)
                                ? kRedacted
                                : keep(std::string(text.substr(equals + 1)))});
  }
}

}  // namespace mishap::collector
