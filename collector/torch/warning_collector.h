#pragma once

#include <c10/util/Exception.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>

namespace mishap::collector {

/// One warning of LibTorch. Texts are cut to fit and end with a NUL.
struct CollectedWarning {
  std::array<char, 256> message{};
  std::array<char, 128> file{};
  std::uint32_t line = 0;
  /// CLOCK_MONOTONIC, nanoseconds.
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
  /// How many there were, those no longer kept included. Thread-safe.
  std::uint64_t count() const noexcept;

 private:
  c10::WarningHandler* previous_;
  mutable std::mutex mutex_;
  std::array<CollectedWarning, kCapacity> kept_{};
  std::uint64_t count_ = 0;
};

}  // namespace mishap::collector
