#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mishap::collector {

/// The names of the numbers in a black box, for a reader who has nothing but
/// the box. Memory of fixed size beside it; each name is stored once, when its
/// number is used for the first time. One thread adds; readers as of BlackBox.
class BoxNames {
 public:
  enum class Kind : std::uint8_t { kStage = 1, kHook, kComponent };

  /// Does nothing when the number has a name, or when there is no room. A long
  /// name is cut.
  void add(Kind kind, std::uint16_t number, std::string_view name) noexcept;

  /// Empty for a number without a name.
  std::string_view find(Kind kind, std::uint16_t number) const noexcept;

 private:
  static constexpr std::size_t kBytes = 7168;
  static constexpr std::size_t kLongest = 120;
  // Kind, number (two bytes), length; the name follows.
  static constexpr std::size_t kEntryHead = 4;

  // How much is whole: stored after the entry.
  std::atomic<std::uint32_t> used_{0};
  std::array<char, kBytes> bytes_{};
};

}  // namespace mishap::collector
