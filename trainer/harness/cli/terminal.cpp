#include <mishap/trainer/harness/cli/terminal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace mishap::cli {
namespace {

constexpr std::chrono::milliseconds kInterval{100};

std::size_t columns() noexcept {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 1 ? size.ws_col - 1U : 79U;
}

std::string_view variable(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

bool is_terminal(std::FILE* stream) noexcept {
  return isatty(fileno(stream)) == 1;
}

bool wants_colour(std::FILE* stream) noexcept {
  return is_terminal(stream) && variable("NO_COLOR").empty() &&
         variable("TERM") != "dumb";
}

ProgressLine::ProgressLine() noexcept : is_on_(is_terminal(stderr)) {}

ProgressLine::~ProgressLine() { clear(); }

bool ProgressLine::is_due() noexcept {
  return is_on_ && std::chrono::steady_clock::now() >= next_;
}

void ProgressLine::show(std::string_view text) noexcept {
  if (!is_on_) {
    return;
  }
  next_ = std::chrono::steady_clock::now() + kInterval;
  text = text.substr(0, columns());
  const std::size_t blanks = width_ > text.size() ? width_ - text.size() : 0;
  std::fprintf(stderr, "\r%.*s%*s", static_cast<int>(text.size()), text.data(),
               static_cast<int>(blanks), "");
  width_ = text.size();
}

void ProgressLine::clear() noexcept {
  if (width_ > 0) {
    std::fprintf(stderr, "\r%*s\r", static_cast<int>(width_), "");
    width_ = 0;
  }
}

}  // namespace mishap::cli
