#include <mishap/trainer/harness/cli/github.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace mishap::cli::github {
namespace {

std::string_view variable(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

bool is_here() noexcept { return variable("GITHUB_ACTIONS") == "true"; }

void annotate(std::string_view message) noexcept {
  std::fputs("::error title=mishap::", stdout);
  for (const char c : message) {
    if (c == '%') {
      std::fputs("%25", stdout);
    } else if (c == '\n') {
      std::fputs("%0A", stdout);
    } else if (c == '\r') {
      std::fputs("%0D", stdout);
    } else {
      std::fputc(c, stdout);
    }
  }
  std::fputc('\n', stdout);
}

void add_to_summary(std::string_view markdown) noexcept {
  const std::string_view path = variable("GITHUB_STEP_SUMMARY");
  if (path.empty()) {
    return;
  }
  try {
    std::ofstream(std::string(path), std::ios::app) << markdown << '\n';
  } catch (...) {
    // The summary page is a courtesy.
  }
}

}  // namespace mishap::cli::github
