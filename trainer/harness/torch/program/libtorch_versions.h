#pragma once

#include <c10/core/DispatchKey.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>

#include <string>
#include <type_traits>

/// What differs between LibTorch 1.13 and 2.x for the operator points.
namespace mishap::program {

/// LibTorch's own key for modes of tests: nothing of LibTorch uses it, and it
/// comes before autograd.
inline constexpr c10::DispatchKey kOperatorKey =
    c10::DispatchKey::TESTING_ONLY_GenericMode;

/// Whether operators that this thread calls go through kOperatorKey.
inline void see_operators_of_this_thread(bool are_seen) {
  c10::impl::tls_set_dispatch_key_included(kOperatorKey, are_seen);
}

/// Errors are made without a backtrace from here on: symbolising one takes up
/// to a second. Later versions take a function for lazy ones too.
inline void leave_backtraces_out() {
  c10::SetStackTraceFetcher([]() -> std::string { return {}; });
}

/// A real throw of LibTorch's error type, without a backtrace.
template <typename Error>
[[noreturn]] void throw_error(const char* text) {
  if constexpr (std::is_constructible_v<Error, std::string, std::string>) {
    throw Error(std::string(text), std::string());
  } else {
    throw Error(std::string(text), nullptr);
  }
}

}  // namespace mishap::program
