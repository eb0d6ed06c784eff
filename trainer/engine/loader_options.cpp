#include <mishap/trainer/engine/loader_options.h>
#include <mishap/trainer/guard/errors.h>

#include <string>

namespace mishap::detail {

void check(const LoaderOptions& options, const char* loader) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(std::string(loader) + ": " + what);
  };
  if (options.batch_size < 1) {
    refuse("batch_size is " + std::to_string(options.batch_size) +
           "; give 1 or more");
  }
  if (options.workers < 0) {
    refuse("workers is " + std::to_string(options.workers) +
           "; give 0 or more");
  }
  if (options.timeout && options.timeout->count() <= 0) {
    refuse("timeout is " + std::to_string(options.timeout->count()) +
           " ms; give more than 0 or leave it unset");
  }
}

}  // namespace mishap::detail
