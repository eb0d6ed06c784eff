#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::cli {

/// Whether something that capture needs works on this machine.
struct Finding {
  enum class Status { kOk, kWarn, kFail };
  Status status = Status::kOk;
  /// What was found.
  std::string text;
  /// What to do about it; empty when all is well.
  std::string advice;
};

struct Probe {
  std::string name;
  std::function<Finding()> look;
};

/// The probes that need no LibTorch. None leaves anything behind.
std::vector<Probe> standard_probes();

/// Whether `mishap-torch` is there and starts.
Probe torch_part_probe();

std::string_view to_string(Finding::Status status) noexcept;

}  // namespace mishap::cli
