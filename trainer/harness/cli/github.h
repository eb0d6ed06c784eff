#pragma once

#include <string_view>

/// What GitHub Actions shows beside a job's log.
namespace mishap::cli::github {

/// True inside a job of GitHub Actions.
bool is_here() noexcept;

/// An error annotation, by a line on stdout. Never throws.
void annotate(std::string_view message) noexcept;

/// Adds Markdown to the job's summary page. What cannot be written is left out:
/// a report must not change the result.
void add_to_summary(std::string_view markdown) noexcept;

}  // namespace mishap::cli::github
