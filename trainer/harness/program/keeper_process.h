#pragma once

#include <mishap/trainer/harness/program/keeper.h>

#include <array>

namespace mishap::program {

/// From the supervisor.
struct KeeperOrder {
  enum Kind : int { kStart, kFinish };
  Kind kind = kStart;
  Role role = Role::kProgram;
  std::array<char, 512> errors_path{};
};

/// From the keeper.
struct KeeperAnswer {
  enum Kind : int { kStarted, kNotStarted, kEnded };
  Kind kind = kStarted;
  pid_t process = 0;
  int wait_status = 0;
  /// Of exec.
  int error = 0;
};

/// The life of the keeper; to be called in a child made by fork().
[[noreturn]] void be_keeper(const KeeperSetup& setup, int socket);

}  // namespace mishap::program
