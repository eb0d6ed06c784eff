#include <mishap/trainer/harness/capture/ready_command.h>

#include <algorithm>
#include <array>
#include <atomic>

namespace mishap {
namespace {

struct Ready {
  std::array<char, 8192> text{};
  std::size_t before = 0;
  std::size_t size = 0;
  FaultsGo faults_go = FaultsGo::kBefore;
};

// In two copies: a handler reads the one while the other is written.
constinit std::array<Ready, 2> copies{};
constinit std::atomic<std::size_t> current{0};

class TextInPlace {
 public:
  explicit TextInPlace(std::span<char> out) noexcept : out_(out) {}
  TextInPlace& operator<<(std::string_view part) noexcept {
    fits_ = fits_ && part.size() <= out_.size() - size_;
    if (fits_) {
      std::copy(part.begin(), part.end(), out_.data() + size_);
      size_ += part.size();
    }
    return *this;
  }
  std::string_view view() const noexcept {
    return fits_ ? std::string_view(out_.data(), size_) : std::string_view();
  }

 private:
  std::span<char> out_;
  std::size_t size_ = 0;
  bool fits_ = true;
};

// Quotes that are not necessary do no harm.
void add_quoted(TextInPlace& text, std::string_view word) noexcept {
  text << "'";
  for (const char& c : word) {
    text << (c == '\'' ? std::string_view("'\\''") : std::string_view(&c, 1));
  }
  text << "'";
}

}  // namespace

void keep_ready_command(std::string_view before, std::string_view command,
                        FaultsGo faults_go) noexcept {
  const std::size_t next = 1 - current.load();
  Ready& ready = copies[next];
  const bool fits = before.size() + command.size() <= ready.text.size();
  ready.before = fits ? before.size() : 0;
  ready.size = fits ? before.size() + command.size() : 0;
  ready.faults_go = faults_go;
  if (fits) {
    std::copy(command.begin(), command.end(),
              std::copy(before.begin(), before.end(), ready.text.begin()));
  }
  current.store(next);
}

std::string_view ready_command(std::string_view faults,
                               std::span<char> out) noexcept {
  const Ready& ready = copies[current.load()];
  const std::string_view whole(ready.text.data(), ready.size);
  if (whole.empty()) {
    return {};
  }
  TextInPlace text(out);
  text << whole.substr(0, ready.before);
  const bool has_faults =
      !faults.empty() && ready.faults_go != FaultsGo::kInside;
  if (has_faults && ready.faults_go == FaultsGo::kBefore) {
    text << "MISHAP_FAULTS=";
    add_quoted(text, faults);
    text << " ";
  }
  text << whole.substr(ready.before);
  if (has_faults && ready.faults_go == FaultsGo::kBehind) {
    text << " --faults ";
    add_quoted(text, faults);
  }
  return text.view();
}

}  // namespace mishap
