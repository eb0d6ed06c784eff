#include <mishap/collector/exception_object.h>
#include <mishap/collector/throw_site.h>
#include <mishap/trainer/harness/capture/bounded_lock.h>
#include <mishap/trainer/harness/capture/recorded_errors.h>

#include <array>
#include <cstdint>
#include <mutex>

namespace mishap {
namespace {

struct Identity {
  const void* object = nullptr;
  // 0 when the throw was not seen.
  std::int64_t thrown_nanos = 0;

  bool operator==(const Identity&) const = default;
};

Identity identity_of(const std::exception_ptr& error) noexcept {
  Identity identity{collector::exception_object(error), 0};
  if (const auto site = collector::find_throw_site(error)) {
    identity.thrown_nanos = site->steady_nanos;
  }
  return identity;
}

struct Entry {
  Identity error;
  RecordedError recorded;
};

constexpr std::size_t kKept = 16;

std::mutex mutex;
std::array<Entry, kKept> entries;
std::size_t next = 0;

}  // namespace

void remember_recorded(const std::exception_ptr& error,
                       const RecordedError& recorded) noexcept {
  const Identity identity = identity_of(error);
  const auto lock = bounded_lock(mutex);
  if (!lock) {
    return;
  }
  entries[next++ % kKept] = {identity, recorded};
}

std::optional<RecordedError> find_recorded(
    const std::exception_ptr& error) noexcept {
  const Identity identity = identity_of(error);
  if (identity.object == nullptr) {
    return std::nullopt;
  }
  const auto lock = bounded_lock(mutex);
  if (!lock) {
    return std::nullopt;
  }
  // The newest first: it is the one that still lives.
  for (std::size_t i = 0; i < kKept; ++i) {
    const Entry& entry = entries[(next + kKept - 1 - i) % kKept];
    if (entry.error == identity) {
      return entry.recorded;
    }
  }
  return std::nullopt;
}

}  // namespace mishap
