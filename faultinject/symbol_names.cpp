#include <mishap/faultinject/symbol_names.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <span>

namespace mishap::faultinject {
namespace {

struct Symbol {
  std::string_view name;
  int number;
};

#define MISHAP_SYMBOL(name) \
  Symbol { #name, name }

constexpr std::array kSignals = {
    MISHAP_SYMBOL(SIGINT),  MISHAP_SYMBOL(SIGTERM), MISHAP_SYMBOL(SIGHUP),
    MISHAP_SYMBOL(SIGQUIT), MISHAP_SYMBOL(SIGILL),  MISHAP_SYMBOL(SIGABRT),
    MISHAP_SYMBOL(SIGFPE),  MISHAP_SYMBOL(SIGKILL), MISHAP_SYMBOL(SIGSEGV),
    MISHAP_SYMBOL(SIGBUS),  MISHAP_SYMBOL(SIGPIPE), MISHAP_SYMBOL(SIGALRM),
    MISHAP_SYMBOL(SIGUSR1), MISHAP_SYMBOL(SIGUSR2), MISHAP_SYMBOL(SIGSTOP),
    MISHAP_SYMBOL(SIGTSTP), MISHAP_SYMBOL(SIGCONT), MISHAP_SYMBOL(SIGXCPU),
    MISHAP_SYMBOL(SIGXFSZ), MISHAP_SYMBOL(SIGTRAP), MISHAP_SYMBOL(SIGSYS),
};

constexpr std::array kErrors = {
    MISHAP_SYMBOL(EACCES),       MISHAP_SYMBOL(EAGAIN),
    MISHAP_SYMBOL(EBADF),        MISHAP_SYMBOL(EBUSY),
    MISHAP_SYMBOL(ECONNREFUSED), MISHAP_SYMBOL(ECONNRESET),
    MISHAP_SYMBOL(EDQUOT),       MISHAP_SYMBOL(EEXIST),
    MISHAP_SYMBOL(EFBIG),        MISHAP_SYMBOL(EINTR),
    MISHAP_SYMBOL(EINVAL),       MISHAP_SYMBOL(EIO),
    MISHAP_SYMBOL(EISDIR),       MISHAP_SYMBOL(ELOOP),
    MISHAP_SYMBOL(EMFILE),       MISHAP_SYMBOL(EMLINK),
    MISHAP_SYMBOL(ENAMETOOLONG), MISHAP_SYMBOL(ENFILE),
    MISHAP_SYMBOL(ENODEV),       MISHAP_SYMBOL(ENOENT),
    MISHAP_SYMBOL(ENOMEM),       MISHAP_SYMBOL(ENOSPC),
    MISHAP_SYMBOL(ENOTDIR),      MISHAP_SYMBOL(ENOTEMPTY),
    MISHAP_SYMBOL(ENXIO),        MISHAP_SYMBOL(EPERM),
    MISHAP_SYMBOL(EPIPE),        MISHAP_SYMBOL(EROFS),
    MISHAP_SYMBOL(ESTALE),       MISHAP_SYMBOL(ETIMEDOUT),
    MISHAP_SYMBOL(EXDEV),
};

#undef MISHAP_SYMBOL

std::optional<int> find(std::span<const Symbol> symbols,
                        std::string_view name) {
  for (const Symbol& symbol : symbols) {
    if (symbol.name == name) return symbol.number;
  }
  return std::nullopt;
}

std::vector<std::string_view> names(std::span<const Symbol> symbols) {
  std::vector<std::string_view> all;
  for (const Symbol& symbol : symbols) all.push_back(symbol.name);
  return all;
}

}  // namespace

std::optional<int> signal_number(std::string_view name) {
  return find(kSignals, name);
}
std::vector<std::string_view> signal_names() { return names(kSignals); }

std::optional<int> errno_number(std::string_view name) {
  return find(kErrors, name);
}
std::vector<std::string_view> errno_names() { return names(kErrors); }

}  // namespace mishap::faultinject
