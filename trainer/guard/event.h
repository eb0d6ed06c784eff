#pragma once

#include <mishap/trainer/guard/place.h>

#include <exception>
#include <string_view>

namespace mishap {

/// What `on_exception` is told.
struct ErrorEvent {
  /// The very object that the caller of the entry point will catch.
  std::exception_ptr error;
  /// fit, validate, test, predict or the name of an own guard.
  std::string_view entry_point;
  /// Where the error left the code of a component.
  Place place;
  /// kInterrupted for SIGINT and SIGTERM, kFailed for the rest.
  Status status = Status::kFailed;
  /// This component had been torn down before the error came.
  bool late = false;
};

}  // namespace mishap
