#pragma once

#include <mutex>

// Each way to fail is an overload of fail_here(), so that the function at fault
// has the same name in every stack. A program's own code: it is not in our
// namespace.
namespace ways {

// NOLINTBEGIN(bugprone-macro-parentheses)
#define MISHAP_WAY_TO_FAIL(name) \
  struct name {};                \
  void fail_here(name)
// NOLINTEND(bugprone-macro-parentheses)

MISHAP_WAY_TO_FAIL(ThrowOutOfRange);
MISHAP_WAY_TO_FAIL(ThrowRuntimeError);
MISHAP_WAY_TO_FAIL(ThrowInt);
MISHAP_WAY_TO_FAIL(SegvRead);
MISHAP_WAY_TO_FAIL(SegvWrite);
MISHAP_WAY_TO_FAIL(SegvCallNull);
MISHAP_WAY_TO_FAIL(Abort);
MISHAP_WAY_TO_FAIL(Assert);
MISHAP_WAY_TO_FAIL(Bus);
MISHAP_WAY_TO_FAIL(DivideByZero);
MISHAP_WAY_TO_FAIL(IllegalInstruction);
MISHAP_WAY_TO_FAIL(Trap);
MISHAP_WAY_TO_FAIL(BadSystemCall);
MISHAP_WAY_TO_FAIL(FileTooLarge);
MISHAP_WAY_TO_FAIL(ProcessorTime);
MISHAP_WAY_TO_FAIL(MeetNoexcept);
MISHAP_WAY_TO_FAIL(ThrowInDestructor);
MISHAP_WAY_TO_FAIL(ThrowNothing);
MISHAP_WAY_TO_FAIL(DestroyJoinable);
MISHAP_WAY_TO_FAIL(CallPure);
MISHAP_WAY_TO_FAIL(UseUpStack);
MISHAP_WAY_TO_FAIL(UseUpStackAtOnce);
MISHAP_WAY_TO_FAIL(FreeTwice);
MISHAP_WAY_TO_FAIL(OverrunHeap);
MISHAP_WAY_TO_FAIL(FaultInMalloc);
MISHAP_WAY_TO_FAIL(SmashStack);
MISHAP_WAY_TO_FAIL(Kill);
MISHAP_WAY_TO_FAIL(TakeMemory);
MISHAP_WAY_TO_FAIL(SleepForEver);
MISHAP_WAY_TO_FAIL(WaitForSignal);

#undef MISHAP_WAY_TO_FAIL

struct WaitForLock {
  std::mutex* lock;
};
void fail_here(WaitForLock way);

}  // namespace ways
