#include <mishap/collector/io/bounded_write.h>
#include <mishap/trainer/harness/capture/hang_options.h>
#include <mishap/trainer/harness/guarded_program.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>

namespace mishap {
namespace {

constexpr const char* kVariable = "MISHAP_HANG_AFTER";

constinit std::atomic<bool> is_said{false};

std::chrono::milliseconds asked_by_environment() noexcept {
  const char* const text = std::getenv(kVariable);
  if (text == nullptr || *text == '\0') {
    return std::chrono::milliseconds(0);
  }
  constexpr double kMost = 1e9;
  constexpr double kMillis = 1e3;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (*end != '\0' || !std::isfinite(seconds) || seconds < 0 ||
      seconds > kMost) {
    if (is_said.exchange(true)) {
      return std::chrono::milliseconds(0);
    }
    collector::bounded_write(
        STDERR_FILENO,
        {"mishap: ", kVariable, "='", text,
         "' is no number of seconds: give one such as 300, or unset it; no run "
         "is watched for hangs\n"},
        std::chrono::milliseconds(100));
    return std::chrono::milliseconds(0);
  }
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(std::ceil(seconds * kMillis)));
}

}  // namespace

std::chrono::milliseconds hang_after(const HangOptions& options) noexcept {
  const auto after =
      options.after.count() == 0 ? asked_by_environment() : options.after;
  return std::max(after, std::chrono::milliseconds(0));
}

bool ends_at_hang(const HangOptions& options) noexcept {
  return options.then == OnHang::kEnd ||
         (options.then == OnHang::kByProgram && GuardedProgram::is_running());
}

}  // namespace mishap
