#include <mishap/collector/clock.h>
#include <mishap/collector/io/bounded_write.h>
#include <mishap/collector/io/quiet_signals.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <optional>

namespace mishap::collector {
namespace {

// A pipe that poll() calls writable takes so much without blocking.
constexpr std::size_t kChunkBytes = 4096;

class BoundedWriter {
 public:
  BoundedWriter(int file, std::chrono::milliseconds limit) noexcept
      : file_(file),
        end_(Clock::system().steady_nano() +
             std::chrono::nanoseconds(limit).count()) {}

  bool add(std::string_view text) noexcept {
    while (!text.empty()) {
      const std::size_t size = std::min(text.size(), chunk_.size() - size_);
      std::copy_n(text.data(), size, chunk_.data() + size_);
      size_ += size;
      text.remove_prefix(size);
      if (size_ == chunk_.size() && !flush()) return false;
    }
    return true;
  }

  bool flush() noexcept {
    std::size_t done = 0;
    while (done < size_) {
      if (!wait()) return false;
      const ssize_t written = write(file_, chunk_.data() + done, size_ - done);
      if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
      if (written > 0) done += static_cast<std::size_t>(written);
    }
    size_ = 0;
    return true;
  }

 private:
  bool wait() noexcept {
    for (;;) {
      const std::int64_t left = end_ - Clock::system().steady_nano();
      if (left <= 0) return false;
      pollfd request{file_, POLLOUT, 0};
      const int millis = static_cast<int>(left / 1'000'000 + 1);
      const int ready = poll(&request, 1, millis);
      if (ready > 0) return (request.revents & POLLOUT) != 0;
      if (ready == 0 || errno != EINTR) return false;
    }
  }

  int file_;
  std::int64_t end_;
  std::array<char, kChunkBytes> chunk_;
  std::size_t size_ = 0;
};

// Keeps the texts of two threads apart, as far as `limit` allows.
class Turn {
 public:
  explicit Turn(std::chrono::milliseconds limit) noexcept {
    constexpr timespec kPause{0, 500'000};
    const std::int64_t end =
        Clock::system().steady_nano() + std::chrono::nanoseconds(limit).count();
    while (!(held_ = !taken_.exchange(true, std::memory_order_acquire)) &&
           Clock::system().steady_nano() < end) {
      nanosleep(&kPause, nullptr);
    }
  }
  ~Turn() {
    if (held_) taken_.store(false, std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  static constinit std::atomic<bool> taken_;
  bool held_ = false;
};

constinit std::atomic<bool> Turn::taken_ = false;

// To a file one call writes all, and nobody's text comes between. Nothing when
// this is no file, or there are too many texts.
std::optional<bool> write_to_regular(
    int file, std::initializer_list<std::string_view> texts) noexcept {
  std::array<iovec, 12> parts;
  struct stat status {};
  if (texts.size() > parts.size() || fstat(file, &status) != 0 ||
      !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  int count = 0;
  std::size_t whole = 0;
  for (const std::string_view text : texts) {
    parts[static_cast<std::size_t>(count++)] = {const_cast<char*>(text.data()),
                                                text.size()};
    whole += text.size();
  }
  ssize_t written = -1;
  do {
    written = writev(file, parts.data(), count);
  } while (written < 0 && errno == EINTR);
  return written == static_cast<ssize_t>(whole);
}

}  // namespace

bool bounded_write(int file, std::initializer_list<std::string_view> texts,
                   std::chrono::milliseconds limit) noexcept {
  const QuietSignals quiet;
  if (const auto done = write_to_regular(file, texts)) return *done;
  const Turn turn(limit);
  BoundedWriter writer(file, limit);
  for (const std::string_view text : texts) {
    if (!writer.add(text)) return false;
  }
  return writer.flush();
}

std::string_view error_text(int error) noexcept {
  const char* const text = strerrordesc_np(error);
  return text == nullptr ? "unknown error" : text;
}

}  // namespace mishap::collector
