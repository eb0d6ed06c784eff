#pragma once

/// Fault points for your own code.
///
///     void save(const State& state) {
///       MISHAP_FAULT_POINT("save/before_rename");
///       …
///     }
///     int read_header(int fd) {
///       MISHAP_FAULT_POINT_RETURN("read_header", int);
///       …
///     }
///
/// The points are `user/save/before_rename` and `user/read_header`; they are in
/// the catalogue from load time on, whether they are ever reached or not. While
/// nothing is armed a point costs one relaxed load. With
/// MISHAP_NO_FAULT_POINTS defined the macros expand to nothing.

#ifdef MISHAP_NO_FAULT_POINTS

#define MISHAP_FAULT_POINT(name) static_cast<void>(0)
#define MISHAP_RECOVERABLE_FAULT_POINT(name) static_cast<void>(0)
#define MISHAP_FAULT_POINT_RETURN(name, ...) static_cast<void>(0)

#else

#include <mishap/faultinject/active.h>
#include <mishap/faultinject/user_point.h>

/// A place in user code where a fault can strike. `name` is a string literal of
/// levels separated by '/', unique or shared by several places.
#define MISHAP_FAULT_POINT(name)                                             \
  (::mishap::faultinject::active() ? ::mishap::faultinject::user_hit<name>() \
                                   : static_cast<void>(0))

/// As above, at a place whose errors the program may survive, such as a loader
/// that tries again. A sweep then calls a run that succeeds although its fault
/// struck `recovered` instead of `swallowed`.
///
/// Nothing else is excused: a run that recovers keeps every other promise, or
/// it is `violated`, and a signal that arrives here still ends it. No fault may
/// cover up for another: where two strike in one run, it may succeed only if
/// both points are recoverable, and an error at a point that is not must come
/// out. A name that several places share is recoverable if all of them say so.
#define MISHAP_RECOVERABLE_FAULT_POINT(name)            \
  (::mishap::faultinject::active()                      \
       ? ::mishap::faultinject::recoverable_hit<name>() \
       : static_cast<void>(0))

/// As MISHAP_FAULT_POINT; `return(text)` in a plan leaves the enclosing
/// function with the value that `text` stands for. The type is void, bool, an
/// arithmetic type, std::string, or one with a specialisation of
/// faultinject::ReturnText.
#define MISHAP_FAULT_POINT_RETURN(name, ...)                               \
  do {                                                                     \
    if (::mishap::faultinject::active()) {                                 \
      if (const auto mishap_directive =                                    \
              ::mishap::faultinject::returning_hit<name, __VA_ARGS__>()) { \
        return ::mishap::faultinject::ReturnText<__VA_ARGS__>::read(       \
            mishap_directive.text);                                        \
      }                                                                    \
    }                                                                      \
  } while (false)

#endif
