#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mishap::collector {

/// What a text is, as far as secrets in it go.
enum class TextKind : std::uint8_t {
  /// For people: the home folder becomes `~`.
  kPlain,
  /// For a shell: it becomes "$HOME", which a shell reads wherever it stands.
  kCommand,
  /// A path: nothing but the home folder is looked for.
  kPath,
};

/// A part of a text that must not be shown.
struct Secret {
  std::size_t begin = 0;
  std::size_t end = 0;
  /// What stands there instead.
  std::string_view stand_in;
};

/// The first secret at or behind `from`:
/// - the value of whatever has a secret name (is_secret_name()), as in
///   `password=x`, `"api_key": "x"`, `--token x`, `Authorization: Bearer x`;
/// - user and password in a URL;
/// - keys that are known by their form (of AWS, GitHub, Hugging Face, OpenAI,
///   Slack, Google, GitLab; JSON web tokens; private keys in PEM) and numbers
///   of payment cards;
/// - the home folder, where Privacy::hide_home was asked for.
/// Async-signal-safe.
std::optional<Secret> next_secret(std::string_view text, std::size_t from,
                                  TextKind kind) noexcept;

/// The text with a stand-in for each secret. Allocates.
std::string redacted(std::string_view text, TextKind kind = TextKind::kPlain);

}  // namespace mishap::collector
