#include <mishap/faultinject/fault_point.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/tasks/retrying_loader.h>

namespace mishap::tasks {

std::optional<Batch> RetryingLoader::next() {
  constexpr int kAttempts = 3;
  for (int attempt = 1;; ++attempt) {
    try {
      MISHAP_RECOVERABLE_FAULT_POINT("gauntlet/read");
      return below_->next();
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception&) {
      if (attempt == kAttempts) {
        throw;
      }
    }
  }
}

}  // namespace mishap::tasks
