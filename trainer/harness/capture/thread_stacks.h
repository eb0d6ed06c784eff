#pragma once

#include <mishap/collector/crash/all_threads.h>
#include <mishap/collector/record.h>
#include <mishap/collector/run_row.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mishap {

struct CaptureStorage;

/// Room for the stacks of all threads and for the lines that tell of them. One
/// for the process, in static memory that nothing touches before something
/// hangs; borrowed by ThreadStacksLease. Nothing here allocates, and all may be
/// called in a signal handler.
class ThreadStacks {
 public:
  static constexpr std::size_t kMaxThreads = 256;
  static constexpr std::size_t kMaxFrames = 4096;
  /// Enough for the row of a run too.
  static constexpr std::size_t kLineBytes = 512 * 1024;

  /// Takes the stacks, that of `options.first` in front.
  void capture(const collector::AllThreadsOptions& options) noexcept;

  /// The stacks as parts of a record of the run that owns `storage`, whose
  /// table of modules they add to. The views live until the lease ends.
  std::span<const collector::RecordThreadStack> fill(
      CaptureStorage& storage) noexcept;

  std::span<const collector::ThreadStack> threads() const noexcept {
    return std::span(threads_).first(count_);
  }

  std::span<char> line() noexcept { return line_; }
  std::span<char> command() noexcept { return command_; }

  /// The modules of a storage's table, as its run's row has them.
  std::span<const collector::RunModule> modules(
      const CaptureStorage& storage) noexcept;

 private:
  friend class ThreadStacksLease;
  static constexpr std::size_t kMaxModules = 64;

  std::size_t count_ = 0;
  std::array<collector::ThreadStack, kMaxThreads> threads_;
  std::array<collector::RecordThreadStack, kMaxThreads> parts_;
  std::array<collector::RecordFrame, kMaxFrames> frames_;
  std::array<collector::RunModule, kMaxModules> modules_;
  std::array<std::array<char, 64>, kMaxModules> build_ids_{};
  std::array<char, kLineBytes> line_{};
  std::array<char, 16 * 1024> command_{};
};

/// Borrows the ThreadStacks of the process; has none while somebody else does,
/// after half a second of waiting. Async-signal-safe.
class ThreadStacksLease {
 public:
  ThreadStacksLease() noexcept;
  ~ThreadStacksLease();
  ThreadStacksLease(const ThreadStacksLease&) = delete;
  ThreadStacksLease& operator=(const ThreadStacksLease&) = delete;

  explicit operator bool() const noexcept { return stacks_ != nullptr; }
  ThreadStacks* operator->() const noexcept { return stacks_; }
  ThreadStacks& operator*() const noexcept { return *stacks_; }

 private:
  ThreadStacks* stacks_ = nullptr;
};

}  // namespace mishap
