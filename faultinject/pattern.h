#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mishap::faultinject {

/// A point's name in which `*` stands for any characters within a level and
/// `**` for any number of levels, none included.
///
/// `:after` is not covered by a glob: `hook/**` matches no `:after` point and
/// `hook/**:after` matches nothing else.
class NamePattern {
 public:
  /// @throws std::invalid_argument with one sentence when `text` breaks the
  /// grammar of names.
  explicit NamePattern(std::string text);

  bool matches(std::string_view name) const;

  /// As matches(), but a pattern without `:after` takes in the `:after` points
  /// as well. For choosing points (`--points`, `--recovers`), not for arming.
  bool selects(std::string_view name) const;

  bool has_glob() const { return has_glob_; }
  bool is_after() const { return is_after_; }
  const std::string& text() const { return text_; }
  /// The first level: a family's name, or a glob.
  std::string_view family() const { return levels_.front(); }

  friend bool operator==(const NamePattern& a, const NamePattern& b) {
    return a.text_ == b.text_;
  }

 private:
  std::string text_;
  std::vector<std::string> levels_;
  bool is_after_ = false;
  bool has_glob_ = false;
};

/// Whether `text` fits a single level in which `*` stands for any characters.
bool level_matches(std::string_view pattern, std::string_view text);

}  // namespace mishap::faultinject
