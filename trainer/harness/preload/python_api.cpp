#include <dlfcn.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/python_api.h>

#include <atomic>

namespace mishap::preload {
namespace {

constinit PythonApi api{};
constinit std::atomic<bool> is_found{false};

template <typename Function>
bool find(Function& out, const char* name) noexcept {
  out = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return out != nullptr;
}

}  // namespace

void look_for_python() noexcept {
  if (is_found.load() || !find(api.is_initialized, "Py_IsInitialized")) {
    return;
  }
  const bool has_all =
      find(api.gil_ensure, "PyGILState_Ensure") &&
      find(api.gil_release, "PyGILState_Release") &&
      find(api.gil_check, "PyGILState_Check") &&
      find(api.this_thread, "PyGILState_GetThisThreadState") &&
      find(api.holder, "_PyThreadState_UncheckedGet") &&
      find(api.thread_frame, "PyThreadState_GetFrame") &&
      find(api.frame_back, "PyFrame_GetBack") &&
      find(api.frame_code, "PyFrame_GetCode") &&
      find(api.frame_line, "PyFrame_GetLineNumber") &&
      find(api.attribute, "PyObject_GetAttrString") &&
      find(api.utf8, "PyUnicode_AsUTF8") && find(api.drop, "Py_DecRef") &&
      find(api.fetch_error, "PyErr_Fetch") &&
      find(api.restore_error, "PyErr_Restore") &&
      find(api.handled_error, "PyErr_GetExcInfo") &&
      find(api.gc_disable, "PyGC_Disable") &&
      find(api.gc_enable, "PyGC_Enable") &&
      find(api.set_trace, "PyEval_SetTrace") &&
      find(api.sys_object, "PySys_GetObject") &&
      find(api.call_without_arguments, "PyObject_CallNoArgs") &&
      find(api.none, "_Py_NoneStruct") &&
      (find(api.is_finalizing, "Py_IsFinalizing") ||
       find(api.is_finalizing, "_Py_IsFinalizing"));
  is_found.store(has_all);
}

const PythonApi* python_api() noexcept {
  if (!is_found.load(std::memory_order_relaxed) || api.is_initialized() == 0 ||
      api.is_finalizing() != 0) {
    return nullptr;
  }
  return &api;
}

PythonHold::PythonHold() noexcept : api_(python_api()) {
  if (api_ == nullptr) {
    return;
  }
  const PythonApi::Object thread = api_->this_thread();
  if (thread == nullptr) {
    return;
  }
  const PythonApi::Object holder = api_->holder();
  if (holder != nullptr && holder != thread) {
    return;
  }
  gil_ = api_->gil_ensure();
  is_taken_ = true;
  thread_ = thread;
  was_collecting_ = api_->gc_disable() != 0;
  api_->fetch_error(&type_, &value_, &traceback_);
}

PythonHold::~PythonHold() {
  if (!is_taken_) {
    return;
  }
  api_->restore_error(type_, value_, traceback_);
  if (was_collecting_) {
    api_->gc_enable();
  }
  api_->gil_release(gil_);
}

}  // namespace mishap::preload
