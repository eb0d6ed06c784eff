#pragma once

#include <cstddef>

namespace mishap::preload {

/// What is called in the Python of the program, without its headers: objects
/// are addresses. The functions are those of its stable interface, and of 3.9
/// and later.
struct PythonApi {
  using Object = void*;
  using TraceFunction = int (*)(Object self, Object frame, int what,
                                Object argument);

  int (*is_initialized)();
  int (*is_finalizing)();
  int (*gil_ensure)();
  void (*gil_release)(int state);
  int (*gil_check)();
  Object (*this_thread)();
  Object (*holder)();
  Object (*thread_frame)(Object thread);
  Object (*frame_back)(Object frame);
  Object (*frame_code)(Object frame);
  int (*frame_line)(Object frame);
  Object (*attribute)(Object object, const char* name);
  const char* (*utf8)(Object text);
  void (*drop)(Object object);
  void (*fetch_error)(Object* type, Object* value, Object* traceback);
  void (*restore_error)(Object type, Object value, Object traceback);
  void (*handled_error)(Object* type, Object* value, Object* traceback);
  int (*gc_disable)();
  int (*gc_enable)();
  void (*set_trace)(TraceFunction function, Object self);
  Object (*sys_object)(const char* name);
  Object (*call_without_arguments)(Object function);
  Object none;
};

/// Null where no Python runs in this process. Finds it at the first call after
/// the interpreter has started.
const PythonApi* python_api() noexcept;

/// Looks the functions up; when the program is loaded, and when it has loaded
/// more.
void look_for_python() noexcept;

/// Holds the interpreter while it lives, if that is possible without waiting
/// for a thread that may wait for this one. Does not touch the program's own
/// error in flight.
class PythonHold {
 public:
  PythonHold() noexcept;
  ~PythonHold();
  PythonHold(const PythonHold&) = delete;
  PythonHold& operator=(const PythonHold&) = delete;

  /// The thread's state; null when the interpreter isn't held, or the thread
  /// runs no Python.
  PythonApi::Object thread() const noexcept { return thread_; }
  const PythonApi& api() const noexcept { return *api_; }

 private:
  const PythonApi* api_ = nullptr;
  PythonApi::Object thread_ = nullptr;
  int gil_ = 0;
  bool is_taken_ = false;
  bool was_collecting_ = false;
  PythonApi::Object type_ = nullptr;
  PythonApi::Object value_ = nullptr;
  PythonApi::Object traceback_ = nullptr;
};

}  // namespace mishap::preload
