#pragma once

#include <initializer_list>
#include <string_view>

namespace mishap::faultinject {

/// Writes the parts and a newline to stderr in one go, so that lines of several
/// threads do not mix. Allocates nothing; cut after 1,023 bytes.
void write_stderr_line(std::initializer_list<std::string_view> parts) noexcept;

}  // namespace mishap::faultinject
