#include <c10/util/Logging.h>
#include <mishap/collector/torch/quiet_errors.h>

#include <string>

namespace mishap::collector {

void quiet_c10_errors() {
  c10::SetStackTraceFetcher([] { return std::string(); });
}

}  // namespace mishap::collector
