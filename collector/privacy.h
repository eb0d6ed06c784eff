#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::collector {

/// What must not stand in a file, beside the secrets that redact_text.h finds
/// in any case.
struct Privacy {
  /// The user's home folder is written as `~`, in commands as "$HOME".
  bool hide_home = false;
  /// The name of the machine, and of the job's other machines, is left out.
  bool hide_host = false;
  /// Further words like "password": the value of whatever has one in its name
  /// is replaced. Letters and digits count; at most kMaxWords, each at most
  /// kMaxWordBytes long.
  std::vector<std::string> secret_words{};

  static constexpr std::size_t kMaxWords = 32;
  static constexpr std::size_t kMaxWordBytes = 31;
};

/// MISHAP_PRIVATE=home,host and MISHAP_SECRET_WORDS=word,word.
Privacy privacy_from_environment();

/// Adds to what the process hides; nothing that was hidden is ever shown again,
/// since runs on other threads have asked for it. Thread-safe.
void hide(const Privacy& privacy) noexcept;

/// What is hidden by now. Async-signal-safe.
bool hides_host() noexcept;
/// Absolute, without a slash at its end; empty when it is not hidden.
std::string_view hidden_home() noexcept;
/// Whether the name contains one of the words that were added; as
/// is_secret_name(), which asks this too.
bool has_added_secret_word(std::string_view name) noexcept;

}  // namespace mishap::collector
