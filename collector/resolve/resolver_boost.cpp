#define BOOST_STACKTRACE_LINK
#define BOOST_STACKTRACE_USE_BACKTRACE
#include <mishap/collector/resolve/backend.h>

#include <boost/stacktrace/frame.hpp>

namespace mishap::collector::detail {

const std::string_view kBackendName = "boost";

// Boost knows only the function that holds the code, by its readable name, and
// hides inlined calls.
std::vector<Frame> look_up(std::uintptr_t address, std::size_t,
                           NameCache& cache) {
  const boost::stacktrace::frame found(reinterpret_cast<const void*>(address));
  Frame frame;
  frame.function = cache.intern(found.name());
  frame.file = cache.intern(found.source_file());
  frame.line = static_cast<int>(found.source_line());
  if (frame.function.empty() && frame.file.empty()) {
    return {};
  }
  return {frame};
}

std::vector<Frame> look_up_in_file(const std::string&, std::uintptr_t,
                                   NameCache&) {
  return {};
}

}  // namespace mishap::collector::detail
