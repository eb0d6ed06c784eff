#include <mishap/faultinject/fixed_text.h>
#include <mishap/faultinject/stderr_line.h>
#include <unistd.h>

#include <cerrno>

namespace mishap::faultinject {

void write_stderr_line(std::initializer_list<std::string_view> parts) noexcept {
  char buffer[1024];
  FixedText line(buffer);
  for (const std::string_view part : parts) line << part;
  buffer[line.view().size()] = '\n';
  const int saved_errno = errno;
  // Nobody is left to hear that stderr does not work.
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, buffer, line.view().size() + 1);
  errno = saved_errno;
}

}  // namespace mishap::faultinject
