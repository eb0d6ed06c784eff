#pragma once

#include <mishap/faultinject/capability.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::faultinject {

class PauseGate;
struct ThrowType;

enum class ActionKind : std::uint8_t {
  kOff,
  kReturn,
  kPrint,
  kPause,
  kYield,
  kSleep,
  kDelay,
  kPanic,
  kThrow,
  kInterrupt,
  kSignal,
  kAbort,
  kExit,
  kHang,
  kErrno,
  kShort,
  kTorn,
  kNan,
  kInf,
  kZero,
  kBitflip,
  kCorrupt,
};

/// What the arguments of an action mean, or why they mean nothing.
struct ArgumentsRead {
  /// The milliseconds, signal, exit code, errno, bytes or bit; else 0.
  std::int64_t number = 0;
  /// The type of a throw; else null.
  const ThrowType* throw_type = nullptr;
  /// Empty when the arguments are good.
  std::string problem;
  std::string advice;
  /// The argument at fault; the number of arguments when one is missing.
  std::size_t argument = 0;
};

/// What an action needs to know when it runs.
struct Performance {
  std::string_view point;
  /// The text to print or throw; the default one when the plan gives none.
  std::string_view text;
  std::int64_t number = 0;
  const ThrowType* throw_type = nullptr;
  PauseGate* gate = nullptr;
};

/// After an action: try the next rule, or leave the hit.
enum class Then : std::uint8_t { kNextRule, kEndOfHit };

/// One row of the table of actions: everything that is known about one.
struct Action {
  ActionKind kind;
  std::string_view word;
  /// The arguments as help shows them.
  std::string_view usage;
  /// A point needs one of these.
  Capability needs;
  Then then;
  ArgumentsRead (*read)(std::span<const std::string> arguments);
  /// Null when the layer that owns the point carries the action out.
  void (*perform)(const Performance& performance);
};

std::span<const Action> actions();
const Action& action(ActionKind kind);
/// Null when there is no such action.
const Action* find_action(std::string_view word);

}  // namespace mishap::faultinject
