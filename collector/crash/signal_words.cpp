#include <mishap/collector/crash/signal_words.h>
#include <signal.h>
#include <string.h>

#include <array>

namespace mishap::collector {
namespace {

struct Name {
  int signal;
  std::string_view name;
};

constexpr std::array kNames = {
    Name{SIGSEGV, "SIGSEGV"}, Name{SIGABRT, "SIGABRT"},
    Name{SIGBUS, "SIGBUS"},   Name{SIGFPE, "SIGFPE"},
    Name{SIGILL, "SIGILL"},   Name{SIGSYS, "SIGSYS"},
    Name{SIGXFSZ, "SIGXFSZ"}, Name{SIGXCPU, "SIGXCPU"},
    Name{SIGTRAP, "SIGTRAP"}, Name{SIGINT, "SIGINT"},
    Name{SIGTERM, "SIGTERM"}, Name{SIGKILL, "SIGKILL"},
    Name{SIGQUIT, "SIGQUIT"}, Name{SIGHUP, "SIGHUP"},
    Name{SIGPIPE, "SIGPIPE"}, Name{SIGALRM, "SIGALRM"},
    Name{SIGUSR1, "SIGUSR1"}, Name{SIGUSR2, "SIGUSR2"},
};

struct Code {
  // 0 for the codes that every signal can have.
  int signal;
  int code;
  std::string_view name;
  std::string_view meaning;
};

// Numbers that glibc 2.36 has no name for yet, of linux/siginfo.h.
constexpr int kSegvControlProtection = 10;

constexpr std::array kCodes = {
    Code{SIGSEGV, SEGV_MAPERR, "SEGV_MAPERR", "address not mapped"},
    Code{SIGSEGV, SEGV_ACCERR, "SEGV_ACCERR", "access not permitted"},
    Code{SIGSEGV, SEGV_BNDERR, "SEGV_BNDERR", "address out of bounds"},
    Code{SIGSEGV, SEGV_PKUERR, "SEGV_PKUERR", "memory key denies access"},
    Code{SIGSEGV, kSegvControlProtection, "SEGV_CPERR",
         "control flow not permitted"},
    Code{SIGBUS, BUS_ADRALN, "BUS_ADRALN", "address not aligned"},
    Code{SIGBUS, BUS_ADRERR, "BUS_ADRERR", "beyond the end of a mapped file"},
    Code{SIGBUS, BUS_OBJERR, "BUS_OBJERR", "hardware error of an object"},
    Code{SIGBUS, BUS_MCEERR_AR, "BUS_MCEERR_AR", "memory error, hardware"},
    Code{SIGBUS, BUS_MCEERR_AO, "BUS_MCEERR_AO", "memory error, hardware"},
    Code{SIGFPE, FPE_INTDIV, "FPE_INTDIV", "integer division by zero"},
    Code{SIGFPE, FPE_INTOVF, "FPE_INTOVF", "integer overflow"},
    Code{SIGFPE, FPE_FLTDIV, "FPE_FLTDIV", "floating-point division by zero"},
    Code{SIGFPE, FPE_FLTOVF, "FPE_FLTOVF", "floating-point overflow"},
    Code{SIGFPE, FPE_FLTUND, "FPE_FLTUND", "floating-point underflow"},
    Code{SIGFPE, FPE_FLTRES, "FPE_FLTRES", "inexact floating-point result"},
    Code{SIGFPE, FPE_FLTINV, "FPE_FLTINV", "invalid floating-point operation"},
    Code{SIGFPE, FPE_FLTSUB, "FPE_FLTSUB", "subscript out of range"},
    Code{SIGILL, ILL_ILLOPC, "ILL_ILLOPC", "illegal instruction"},
    Code{SIGILL, ILL_ILLOPN, "ILL_ILLOPN", "illegal operand"},
    Code{SIGILL, ILL_ILLADR, "ILL_ILLADR", "illegal addressing mode"},
    Code{SIGILL, ILL_ILLTRP, "ILL_ILLTRP", "illegal trap"},
    Code{SIGILL, ILL_PRVOPC, "ILL_PRVOPC", "privileged instruction"},
    Code{SIGILL, ILL_PRVREG, "ILL_PRVREG", "privileged register"},
    Code{SIGILL, ILL_COPROC, "ILL_COPROC", "coprocessor error"},
    Code{SIGILL, ILL_BADSTK, "ILL_BADSTK", "internal stack error"},
    Code{SIGTRAP, TRAP_BRKPT, "TRAP_BRKPT", "breakpoint"},
    Code{SIGTRAP, TRAP_TRACE, "TRAP_TRACE", "trace trap"},
    Code{SIGSYS, 1, "SYS_SECCOMP", "system call denied by a seccomp filter"},
    Code{0, SI_USER, "SI_USER", "sent by kill()"},
    Code{0, SI_TKILL, "SI_TKILL", "sent by raise() or tgkill()"},
    Code{0, SI_QUEUE, "SI_QUEUE", "sent by sigqueue()"},
    Code{0, SI_TIMER, "SI_TIMER", "sent by a timer"},
    Code{0, SI_KERNEL, "SI_KERNEL", {}},
};

constexpr std::array kMeanings = {
    Name{SIGSEGV, "invalid memory access"},
    Name{SIGABRT, "abort() was called"},
    Name{SIGBUS, "bus error"},
    Name{SIGFPE, "arithmetic error"},
    Name{SIGILL, "illegal instruction"},
    Name{SIGSYS, "bad system call"},
    Name{SIGXFSZ, "the limit on the size of a file was passed"},
    Name{SIGXCPU, "the limit on processor time was passed"},
    Name{SIGTRAP, "trap"},
};

const Code* find(int signal, int code) noexcept {
  for (const Code& known : kCodes) {
    if (known.code == code && (known.signal == signal || known.signal == 0)) {
      return &known;
    }
  }
  return nullptr;
}

}  // namespace

std::string_view signal_name(int signal) noexcept {
  for (const Name& known : kNames) {
    if (known.signal == signal) {
      return known.name;
    }
  }
  const char* const text = sigdescr_np(signal);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

std::string_view signal_code_name(int signal, int code) noexcept {
  const Code* const known = find(signal, code);
  return known == nullptr ? std::string_view() : known->name;
}

std::string_view signal_meaning(int signal, int code) noexcept {
  // abort() raises it: saying so says nothing.
  const bool is_abort = signal == SIGABRT && code == SI_TKILL;
  const Code* const known = find(signal, code);
  if (known != nullptr && !known->meaning.empty() && !is_abort) {
    return known->meaning;
  }
  for (const Name& meaning : kMeanings) {
    if (meaning.signal == signal) {
      return meaning.name;
    }
  }
  return {};
}

}  // namespace mishap::collector
