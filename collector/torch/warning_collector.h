#pragma once

#include <c10/util/Exception.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace mishap::collector {

/// One warning of LibTorch. Texts are cut to fit and end with a NUL. A warning
/// with the message of one that is kept is counted there, not kept again.
struct CollectedWarning {
  std::array<char, 256> message{};
  std::array<char, 128> file{};
  std::uint32_t line = 0;
  /// How often the message came.
  std::int64_t count = 0;
  /// Clock::steady_nano() of the last time.
  std::int64_t steady_nanos = 0;
};

/// Keeps the last warnings that LibTorch gives on this thread while it lives,
/// and hands each on to the handler that was there before, which it puts back
/// at the end.
///
/// LibTorch keeps one handler a thread: construct and destroy the collector on
/// the thread whose warnings are wanted, in the order of a stack.
class WarningCollector final : public c10::WarningHandler {
 public:
  static constexpr std::size_t kCapacity = 8;

  WarningCollector();
  ~WarningCollector() override;
  WarningCollector(const WarningCollector&) = delete;
  WarningCollector& operator=(const WarningCollector&) = delete;

  void process(const c10::SourceLocation& location, const std::string& message,
               bool verbatim) override;

  /// Copies the kept warnings, oldest first; gives their number. Thread-safe.
  std::size_t copy(std::span<CollectedWarning> out) const noexcept;
  /// The same without waiting: none while a warning is being kept.
  std::size_t try_copy(std::span<CollectedWarning> out) const noexcept;

 private:
  CollectedWarning& entry_for(std::string_view message);
  std::size_t copy_locked(std::span<CollectedWarning> out) const noexcept;

  c10::WarningHandler* previous_;
  mutable std::mutex mutex_;
  std::array<CollectedWarning, kCapacity> kept_{};
  /// How many were ever kept; the oldest of them make room.
  std::size_t kept_count_ = 0;
};

}  // namespace mishap::collector
