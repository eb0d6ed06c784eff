#include <c10/util/Exception.h>
#include <mishap/collector/exception_translator.h>
#include <mishap/collector/torch/translators.h>
#include <torch/data/worker_exception.h>

#include <string>
#include <string_view>

namespace mishap::collector {
namespace {

// A text in LibTorch 1.13, a lazily built one behind a pointer from 2.4 on.
std::string_view backtrace_text(const std::string& text) { return text; }

template <typename Lazy>
std::string_view backtrace_text(const Lazy& lazy) {
  return lazy ? std::string_view(lazy->get()) : std::string_view();
}

void translate_c10(const c10::Error& error, Translation& out) {
  out.message = error.what_without_backtrace();
  out.native_backtrace = backtrace_text(error.backtrace());
}

void translate_worker(const torch::data::WorkerException& error,
                      Translation& out) {
  out.message = error.what();
  out.cause = error.original_exception;
}

}  // namespace

void register_torch_translators() {
  register_translator(translate_c10);
  register_translator(translate_worker);
}

}  // namespace mishap::collector
