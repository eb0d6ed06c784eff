#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

/// What the supervisor of a program and the agent inside it (preloaded) share:
/// one mapped file, named by MISHAP_SWEEP_CONTROL. Numbers and fixed texts
/// only, so that either side may die at any moment.
namespace mishap::program {

inline constexpr std::uint32_t kControlMagic = 0x6d736870;
inline constexpr std::uint32_t kControlVersion = 1;
inline constexpr const char* kControlVariable = "MISHAP_SWEEP_CONTROL";
/// The process that the supervisor started: the agent works there only, unless
/// kFollowVariable names the program.
inline constexpr const char* kTargetVariable = "MISHAP_SWEEP_PID";
/// Globs of program names, separated by ':'.
inline constexpr const char* kFollowVariable = "MISHAP_SWEEP_FOLLOW";

enum class Mode : std::uint32_t {
  /// Count hits and stacks; nothing fails.
  kCount,
  /// Stop at each planned case, fork, fail in the child, go on in the parent.
  kFork,
  /// Fail at the one planned case in this process.
  kSingle,
};

/// Whose turn it is at a planned case. Only the one named may change it, and
/// wakes the other by the futex of `turn`.
enum class Turn : std::uint32_t {
  /// Program: it runs, or has ended.
  kProgram,
  /// Supervisor: the program stands before the fork, and `current` names the
  /// case; it looks at the files, then answers with kFork or kSkip.
  kAtCase,
  /// Program: fork now.
  kFork,
  /// Program: leave this case out.
  kSkip,
  /// Supervisor: the child of the case has ended (`report.wait_status`); it
  /// judges, puts the files back, and answers with kProgram.
  kChildEnded,
};

/// Why a program can't be forked where it stands. Flags.
enum class Obstacle : std::uint32_t {
  kNone = 0,
  kThreads = 1,
  kChildren = 2,
  kSockets = 4,
  kPipes = 8,
  kDevice = 16,
  kSharedMemory = 32,
  kTimers = 64,
};

template <std::size_t kSize>
struct Text {
  std::array<char, kSize> bytes{};
};

/// A code address that means the same in every process.
struct CodePlace {
  /// Index into `modules`; kNoModule where it is in none.
  std::uint32_t module = 0;
  std::uint32_t unused = 0;
  /// From the module's load address.
  std::uint64_t offset = 0;
};
inline constexpr std::uint32_t kNoModule = 0xffffffff;
/// Index into `text`: nothing.
inline constexpr std::uint32_t kNoText = 0;

struct ModuleEntry {
  Text<384> path;
  Text<64> build_id;
};

/// A point that was hit, or that is planned.
struct PointEntry {
  Text<120> name;
  std::atomic<std::uint64_t> hits{0};
};

/// A distinct call stack of a point.
struct StackEntry {
  static constexpr std::size_t kFrames = 40;
  std::uint64_t hash = 0;
  std::uint32_t point = 0;
  std::uint32_t frame_count = 0;
  /// Among the hits of the point, from 1.
  std::uint64_t first_hit = 0;
  std::atomic<std::uint64_t> hits{0};
  std::array<CodePlace, kFrames> frames{};
  /// Python's frames as lines "file:line function", innermost first.
  std::uint32_t python = kNoText;
  /// The file that an io point was hit with.
  std::uint32_t path = kNoText;
};

/// What was done to a file. Flags.
enum class Touch : std::uint32_t {
  kCreated = 1,
  kWritten = 2,
  kRenamedTo = 4,
  kRenamedAway = 8,
  kRemoved = 16,
  kFolderMade = 32,
};

/// A path that the program changed; absolute. One entry a path.
struct TouchEntry {
  std::uint32_t path = kNoText;
  std::atomic<std::uint32_t> touches{0};
};

/// A whole content that a file had in the run, known by its hash: taken when a
/// descriptor that had written was closed, and after a rename.
struct VersionEntry {
  std::uint32_t path = kNoText;
  std::uint32_t unused = 0;
  std::uint64_t hash = 0;
};

/// A fault to try.
struct CaseEntry {
  std::uint32_t point = 0;
  std::uint32_t is_persistent = 0;
  /// Among the hits of the point, from 1.
  std::uint64_t hit = 0;
  /// As in a plan: `errno(ENOSPC)`.
  Text<112> action;
};

/// Where an exception was caught, or what went on instead.
enum class CatchKind : std::uint32_t {
  kNone,
  /// A handler of C++: `catch_frames`, innermost first, begin in it.
  kHandler,
  /// No exception came: the caller of the failing call went on.
  kIgnored,
  /// A Python function that went on: `catch_python`.
  kPython,
};

/// What became of a fault, told by the process in which it struck.
struct CaseReport {
  static constexpr std::size_t kFrames = 40;
  std::atomic<std::uint32_t> has_fired{0};
  std::atomic<std::int32_t> child{0};
  std::atomic<std::int32_t> wait_status{0};
  /// The stack at the hit.
  std::uint32_t hit_frame_count = 0;
  std::array<CodePlace, kFrames> hit_frames{};
  std::uint32_t hit_python = kNoText;
  std::uint32_t path = kNoText;
  /// The first exception that was thrown since the fault struck.
  std::atomic<std::uint32_t> has_thrown{0};
  Text<256> thrown_type;
  Text<1024> thrown_text;
  std::uint32_t throw_frame_count = 0;
  std::array<CodePlace, kFrames> throw_frames{};
  std::atomic<std::uint32_t> catch_kind{0};
  std::uint32_t catch_frame_count = 0;
  std::array<CodePlace, kFrames> catch_frames{};
  std::uint32_t catch_python = kNoText;
  /// Threads that the process had when it ended by itself.
  std::uint32_t threads_left = 0;
};

inline constexpr std::size_t kPoints = 4096;
inline constexpr std::size_t kModules = 1024;
inline constexpr std::size_t kStacks = 1 << 16;
inline constexpr std::size_t kTouches = 1 << 13;
inline constexpr std::size_t kVersions = 1 << 14;
inline constexpr std::size_t kCases = 1 << 18;
inline constexpr std::size_t kTextBytes = 64 << 20;

/// The mapped file; sparse, so that what is not used costs nothing.
struct Control {
  std::uint32_t magic = 0;
  std::uint32_t version = 0;
  // --- set by the supervisor before the program starts ---
  std::atomic<std::uint32_t> mode{0};
  std::uint32_t case_count = 0;
  /// Which families are hit at all; empty: all. As a plan's patterns, one a
  /// line.
  Text<2048> patterns;
  /// Files that io points look at; empty: all but the system's. Globs, one a
  /// line.
  Text<2048> files;
  /// Where a case's child writes its stderr; its stdout goes to /dev/null.
  Text<512> case_stderr;
  /// The library with the operator points, empty where there is none.
  Text<512> torch_part;
  // --- while it runs ---
  /// Turn; also a futex.
  std::atomic<std::uint32_t> turn{0};
  /// The case at which the program stands or that it runs: index into `cases`.
  std::atomic<std::uint32_t> current{0};
  /// Set by the agent when it works; 2 when the process executed another
  /// program and the agent began again.
  std::atomic<std::uint32_t> images{0};
  /// Obstacle flags at the case at which the program stands.
  std::atomic<std::uint32_t> obstacles{0};
  /// Something did not fit into the tables below.
  std::atomic<std::uint32_t> overflows{0};
  /// Hash of the sequence of hits so far, of the main thread.
  std::atomic<std::uint64_t> sequence_hash{0};
  std::atomic<std::uint64_t> hits{0};
  /// The process in which the agent works; 0 as long as there is none. A
  /// process that is followed takes it over from one that is gone.
  std::atomic<std::int32_t> process{0};
  /// 1 when Python runs in the program, 1 when LibTorch is mapped.
  std::atomic<std::uint32_t> has_python{0};
  std::atomic<std::uint32_t> has_torch{0};
  /// Why the operators are not swept though LibTorch is there; empty: they are.
  Text<512> torch_problem;
  CaseReport report;
  // --- tables, filled from the front ---
  std::atomic<std::uint32_t> point_count{0};
  std::atomic<std::uint32_t> module_count{0};
  std::atomic<std::uint32_t> stack_count{0};
  std::atomic<std::uint32_t> touch_count{0};
  std::atomic<std::uint32_t> version_count{0};
  /// Bytes of `text` in use; the first one is never used.
  std::atomic<std::uint32_t> text_size{1};
  std::array<PointEntry, kPoints> points;
  std::array<ModuleEntry, kModules> modules;
  std::array<StackEntry, kStacks> stacks;
  std::array<TouchEntry, kTouches> touches;
  std::array<VersionEntry, kVersions> versions;
  std::array<CaseEntry, kCases> cases;
  /// Texts that end in a zero byte.
  std::array<char, kTextBytes> text;
};

}  // namespace mishap::program
