#include <mishap/trainer/guard/replace_file.h>
#include <mishap/trainer/harness/fault_store.h>
#include <mishap/trainer/harness/save_file.h>

namespace mishap {

void save_file(const std::string& path, std::string_view bytes,
               std::string_view kind) {
  FaultStore store(kind);
  replace_file(path, bytes, store);
}

}  // namespace mishap
