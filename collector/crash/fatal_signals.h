#pragma once

namespace mishap::collector {

/// While at least one lives, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS,
/// SIGXFSZ, SIGXCPU, SIGTRAP and std::terminate() are told to the process's
/// CrashTeller before the process ends of them:
///
///     set_crash_teller(&teller);
///     const CrashScope crashes;
///     const ThreadScope thread("main");   // for a used-up stack
///
/// The process ends as it would have without: by the same signal, with the same
/// information, at the same instruction. A handler that was installed before is
/// called behind ours; one that is installed later comes first and has to hand
/// on to ours. A signal that was ignored stays ignored. The first thread that
/// fails is told, the others wait until the process ends; a fault in the
/// telling itself, or three seconds in it, end the process at once.
///
/// The last one to go gives back what the first one found, for those signals
/// whose handler is still ours. Thread-safe; not async-signal-safe.
class CrashScope {
 public:
  CrashScope() noexcept;
  ~CrashScope();
  CrashScope(const CrashScope&) = delete;
  CrashScope& operator=(const CrashScope&) = delete;
};

/// Takes the handlers until the process ends, exit handlers and the
/// destructors of static objects included. Once is enough.
void keep_crash_handlers() noexcept;

}  // namespace mishap::collector
