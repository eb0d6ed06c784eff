#pragma once

#include <mishap/collector/label/label_text.h>
#include <mishap/collector/record.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mishap::collector {

inline constexpr std::int32_t kFingerprintVersion = 1;

/// What a fingerprint reads of one frame.
struct FingerprintFrame {
  /// Readable name; empty when unknown.
  std::string_view function;
  /// GNU build-id in hex, or the file's name without folder where it has none.
  std::string_view module;
  std::uint64_t offset = 0;
  bool in_app = false;
};

/// What a fingerprint reads of a failure, wherever that comes from.
struct FingerprintInput {
  /// Types of the chain, outermost first; without an exception the signal or
  /// the kind of the record.
  std::span<const std::string_view> types;
  std::string_view stage;
  std::string_view hook;
  std::string_view component;
  /// Of the innermost cause that has a stack; innermost first.
  std::span<const FingerprintFrame> frames;
  /// Of the innermost cause.
  std::string_view message;
};

/// Groups failures of one defect, version 1. The parts, in this order:
///
///     type: std::runtime_error < int        outermost first
///     stage: train
///     hook: training_step
///     component: module
///     frame: app::load                      up to five
///
/// An entry without a value is left out. The frames are those of the program,
/// else all, by plain_name(), repetitions folded; one without a name is
/// `offset: BUILD_ID+0x1234`. Without any frame there is `message: ...`, by
/// plain_message(). The hash is the XXH3-128 of "1\n" and each part with a "\n"
/// behind it, as 32 hex digits. Neither lines, addresses nor the fault that was
/// injected enter: the fault is the label that groups are judged by.
class Fingerprint {
 public:
  static constexpr std::size_t kMaxFrames = 5;
  /// More frames than these are not looked at.
  static constexpr std::size_t kMaxInputFrames = 96;
  /// Nor more of those that count; a record's own are folded already.
  static constexpr std::size_t kMaxChosen = 40;

  /// Replaces the content. Async-signal-safe.
  void compute(const FingerprintInput& input) noexcept;

  /// Views into this object.
  RecordFingerprint view() const noexcept;

 private:
  static constexpr std::size_t kMaxParts = 4 + kMaxFrames;
  static constexpr std::size_t kTextBytes = 3 * 1024;

  void add_part(std::string_view name, std::string_view value) noexcept;
  void add_types(std::span<const std::string_view> types) noexcept;
  bool add_frames(std::span<const FingerprintFrame> frames,
                  bool only_in_app) noexcept;
  void hash_parts() noexcept;

  detail::LabelText<kTextBytes> text_;
  std::array<std::string_view, kMaxParts> parts_;
  std::size_t parts_size_ = 0;
  std::array<char, 32> hash_{};
};

}  // namespace mishap::collector
