#include <mishap/faultinject/environment.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace mishap::faultinject {
namespace {

constexpr char kFaults[] = "MISHAP_FAULTS";
constexpr char kFile[] = "MISHAP_FAULTS_FILE";
constexpr char kSeed[] = "MISHAP_SEED";

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::string read_file(const std::string& path) {
  errno = std::filesystem::is_directory(path) ? EISDIR : 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || errno == EISDIR) {
    throw PlanError(kFile, {},
                    "the file " + path + " can't be read: " +
                        std::system_category().message(errno),
                    "name a file that holds a fault plan");
  }
  return text.str();
}

std::uint64_t seed_in(const std::string& text) {
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc() || stop != end) {
    throw PlanError(kSeed, {}, "'" + text + "' is no whole number of 64 bits",
                    "write such as MISHAP_SEED=42");
  }
  return seed;
}

void append(Plan& plan, Plan more) {
  if (plan.seed && more.seed && plan.seed != more.seed) {
    throw PlanError(more.source, {},
                    "its seed is another one than that in " + plan.source,
                    "keep one of them");
  }
  if (more.seed) plan.seed = more.seed;
  plan.source += plan.source.empty() ? more.source : " and " + more.source;
  for (Rule& rule : more.rules) plan.rules.push_back(std::move(rule));
}

}  // namespace

std::optional<Plan> plan_from_environment() {
  const auto text = variable(kFaults);
  const auto path = variable(kFile);
  if (!text && !path) return std::nullopt;
  Plan plan;
  if (text) append(plan, Plan::parse(*text, kFaults));
  if (path) append(plan, Plan::parse(read_file(*path), *path));
  if (const auto seed = variable(kSeed); seed && !plan.seed) {
    plan.seed = seed_in(*seed);
  }
  return plan;
}

Scenario arm_from_environment(Announce announce) {
  auto plan = plan_from_environment();
  if (!plan || plan->rules.empty()) return Scenario();
  return arm(std::move(*plan), Scope::process(), announce);
}

}  // namespace mishap::faultinject
