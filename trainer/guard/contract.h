#pragma once

#include <mishap/trainer/guard/event.h>
#include <mishap/trainer/guard/journal.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mishap {

/// The promises of the cleanup contract.
enum class Clause : std::uint8_t {
  kC1,
  kC2,
  kC3,
  kC4,
  kC5,
  kC6,
  kC7,
  kC8,
  kC9,
  kC10,
  kC11,
  kC12,
  kC13,
  kC14,
  kC15,
};
inline constexpr std::size_t kClauseCount = 15;

/// "C1" and so on.
std::string_view to_string(Clause clause) noexcept;
/// "same error" and so on.
std::string_view title_of(Clause clause) noexcept;

/// One piece of the cleanup as a record tells it.
struct CleanupSeen {
  std::string step;
  std::string component;
  /// ran, failed, skipped or timed_out.
  std::string outcome;
  std::int64_t micros = 0;
};

/// What a reader of the records file found there after the call.
struct RecordSeen {
  std::string record_id;
  std::string run_id;
  /// Of the run around it; empty when there is none.
  std::string parent_run_id;
  std::string kind;
  std::string entry_point;
  std::string stage;
  std::string hook;
  std::string component;
  /// The component of each entry of `suppressed`; empty where it is nobody's.
  std::vector<std::string> suppressed{};
  std::vector<CleanupSeen> cleanup = {};
  /// How many threads it tells of.
  std::size_t threads = 0;
};

/// What a user could see of one failed call of an entry point: what his own
/// components were told, what he caught, what stands in the file.
struct Observation {
  std::string_view entry_point;
  /// The signal that the fault sent; 0 for a thrown error.
  int signal = 0;
  /// The hook and the component at which the error of the run was thrown; kNone
  /// for signals and for points that are no hook's.
  Hook hook = Hook::kNone;
  Component component;
  /// At whose hook a second error was thrown while the first one was on its way
  /// or being cleaned up after; Component() when there was none, or at a point
  /// that is no hook's.
  Component second_component;
  /// The faults struck where a run may recover: it may end as a success.
  bool may_succeed = false;
  /// Null when the call returned as if all was well.
  std::exception_ptr caught;
  std::span<const JournalEntry> journal;
  /// The user's components of this run; loggers apart.
  std::span<const Component> components;
  std::span<const Component> loggers;
  std::span<const RecordSeen> records;

  /// The run failed or was interrupted as far as anybody outside can tell: the
  /// caller caught something, or a component was told.
  bool failed() const noexcept { return caught != nullptr || anybody_told(); }
  /// on_exception of some component was called.
  bool anybody_told() const noexcept;
  /// The record of the run that was called, not of one nested in it; null when
  /// it left none.
  const RecordSeen* own_record() const noexcept;
  /// The record of the run in which the error began: of the innermost one that
  /// it went through. Null when there is none.
  const RecordSeen* first_record() const noexcept;
};

/// Judges one clause by what a user can see, never by a field of the guard.
class Checker {
 public:
  virtual ~Checker() = default;
  virtual Clause clause() const noexcept = 0;
  /// False when the clause says nothing about this call.
  virtual bool applies(const Observation&) const { return true; }
  /// Just before the call.
  virtual void before() {}
  /// Just after the call returned or threw.
  virtual void after() {}
  /// What is broken, in one sentence; nothing when the promise was kept.
  virtual std::optional<std::string> judge(const Observation&) = 0;
};

}  // namespace mishap
