#include <c10/util/Exception.h>
#include <mishap/trainer/engine/patience.h>
#include <mishap/trainer/guard/run.h>

#include <algorithm>
#include <cstring>

namespace mishap::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLookAround{100};

bool is_queue_timeout(const c10::Error& error) {
  return std::strstr(error.what_without_backtrace(),
                     "Timeout in DataLoader queue") != nullptr;
}

}  // namespace

milliseconds poll_interval(const LoaderOptions& options) {
  return options.timeout ? std::min(*options.timeout, kLookAround)
                         : kLookAround;
}

bool wait_patiently(const LoaderOptions& options,
                    const std::function<bool()>& fetch) {
  const steady_clock::time_point start = steady_clock::now();
  for (;;) {
    try {
      return fetch();
    } catch (const c10::Error& error) {
      const bool out_of_time =
          options.timeout && steady_clock::now() - start >= *options.timeout;
      if (!is_queue_timeout(error) || out_of_time) {
        throw;
      }
    }
    if (Run* const run = Run::current()) {
      run->safe_point();
    }
  }
}

}  // namespace mishap::detail
