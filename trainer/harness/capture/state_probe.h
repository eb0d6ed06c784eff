#pragma once

#include <mishap/collector/exception_chain.h>
#include <mishap/collector/record.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mishap {

class Run;

/// State of the training world at a failure, in storage of its own. A probe
/// fills what it knows.
struct StateSample {
  static constexpr std::size_t kMaxDevices = 8;
  static constexpr std::size_t kMaxTensors = 8;
  static constexpr std::size_t kMaxDims = 8;
  static constexpr std::size_t kMaxWarnings = 8;
  static constexpr std::size_t kTextBytes = 4096;

  collector::RecordModes modes;
  std::array<collector::RecordDevice, kMaxDevices> devices;
  std::size_t device_count = 0;
  std::array<collector::RecordTensor, kMaxTensors> tensors;
  std::array<std::array<std::int64_t, kMaxDims>, kMaxTensors> shapes{};
  std::size_t tensor_count = 0;
  std::array<collector::RecordWarning, kMaxWarnings> warnings;
  std::size_t warning_count = 0;

  /// Copies a text into the sample; cut when there is no room left.
  std::string_view keep(std::string_view text) noexcept;

 private:
  std::array<char, kTextBytes> text_{};
  std::size_t text_size_ = 0;
};

/// Looks at state that the torch-free guard knows nothing of.
class StateProbe {
 public:
  virtual ~StateProbe() = default;
  /// A run starts.
  virtual void on_enter(Run&) noexcept {}
  /// The first error has reached the guard; nothing was cleaned up. Must not
  /// throw, allocate, or initialise a device.
  virtual void sample(const Run& run, const collector::ExceptionChain& chain,
                      StateSample& out) noexcept = 0;
  /// The run of that thread (its kernel id) hangs. Called on the watchdog's
  /// thread while the run goes on to store: what belongs to the run's thread
  /// alone is left out. Whatever hangs may hold any lock, that of the heap
  /// among them: must not allocate, or wait for a lock without bound.
  virtual void sample_hang(std::int32_t, StateSample&) noexcept {}
};

/// Adds a probe for the life of the process. Thread-safe; at most eight.
void register_state_probe(StateProbe& probe) noexcept;

/// Calls every probe.
void probe_on_enter(Run& run) noexcept;
void probe_state(const Run& run, const collector::ExceptionChain& chain,
                 StateSample& out) noexcept;
void probe_hang(std::int32_t thread_id, StateSample& out) noexcept;

}  // namespace mishap
