#pragma once

#include <mishap/collector/crash/black_box.h>
#include <mishap/collector/crash/box_names.h>
#include <mishap/collector/record_writer.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::collector {

/// What a slot's text is.
enum class SlotState : std::uint32_t {
  kEmpty,
  /// A minimal record; place and kind are brought up to date on recovery.
  kRunning,
  /// A record that is complete as it stands.
  kFrozen,
};

/// One of the two texts of a slot. One of them is always whole, also while the
/// other one is written.
struct SlotTextInfo {
  std::uint64_t size = 0;
  /// slot_checksum() of the text.
  std::uint64_t checksum = 0;
  SlotState state = SlotState::kEmpty;
};

/// The first page of a slot file.
struct SlotHeader {
  /// The last character is the version of the format: everything up to it
  /// stays where it is in all of them.
  static constexpr std::array<char, 8> kMagic = {'m', 'i', 's', 'h',
                                                 'a', 'p', 's', '2'};

  std::array<char, 8> magic{};
  /// Its owner, and what tells it from a later process with the same id.
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::array<char, 40> boot_id{};
  /// Index of the text that counts.
  std::atomic<std::uint32_t> active{0};
  std::array<SlotTextInfo, 2> texts{};
  /// Absolute path of the records folder, zero-terminated.
  std::array<char, 3072> folder{};
};

/// The part of a slot file that is mapped. The texts follow it, each in an area
/// of kRecordBufferBytes.
struct SlotPages {
  alignas(4096) SlotHeader header;
  alignas(4096) BlackBox box;
  BoxNames names;
};

inline constexpr std::size_t kSlotPagesBytes = 16 * 1024;
static_assert(sizeof(SlotPages) == kSlotPagesBytes);

inline constexpr std::string_view kSlotPrefix = ".mishap-pending-";

constexpr off_t slot_text_offset(std::uint32_t index) noexcept {
  return static_cast<off_t>(kSlotPagesBytes + index * kRecordBufferBytes);
}

/// Tells a whole text from a torn one. Eight bytes at a time, since it is taken
/// while a failed run waits. Async-signal-safe.
std::uint64_t slot_checksum(std::string_view text) noexcept;

/// The folders for slots whose records folder is not there yet, best first.
std::vector<std::string> slot_fallback_folders();

/// Identity of this boot of the machine; empty when the kernel does not tell.
const std::string& boot_id();

/// When this process started, in clock ticks since boot; 0 when the kernel does
/// not tell.
std::uint64_t own_start_ticks();

/// Whether a page of the file, once written, can be stored to for ever. Where
/// every write takes new space, or a server may refuse it, a plain store can
/// end in SIGBUS.
bool is_safe_to_map(int file);

/// When a process started, in clock ticks since boot; nothing when there is no
/// such process.
std::optional<std::uint64_t> start_ticks(std::int64_t pid);

}  // namespace mishap::collector
