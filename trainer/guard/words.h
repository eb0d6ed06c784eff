#pragma once

#include <cstdint>
#include <string_view>

namespace mishap {

/// How far a run has come.
enum class Status : std::uint8_t {
  kInitializing,
  kRunning,
  kFinished,
  kInterrupted,
  kFailed,
};

/// What a run is doing now; a fit passes through several.
enum class Stage : std::uint8_t {
  kConfigure,
  kSetup,
  kSanityCheck,
  kTrain,
  kValidate,
  kTest,
  kPredict,
  kSaveCheckpoint,
  kLoadCheckpoint,
  kTeardown,
};

/// The word that a logger is finalised with.
enum class FinalWord : std::uint8_t { kSuccess, kFailed, kInterrupted };

std::string_view to_string(Status status) noexcept;
std::string_view to_string(Stage stage) noexcept;
std::string_view to_string(FinalWord word) noexcept;

}  // namespace mishap
