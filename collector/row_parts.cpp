#include <mishap/collector/clock.h>
#include <mishap/collector/modules.h>
#include <mishap/collector/row_parts.h>

#include <cstddef>

namespace mishap::collector {

void fill_times(RunRow& row, std::int64_t start_unix_nanos,
                std::int64_t start_steady_nanos) noexcept {
  const Clock& clock = Clock::system();
  row.start_unix_nano = start_unix_nanos;
  row.end_unix_nano = clock.unix_nano();
  row.duration_micros = (clock.steady_nano() - start_steady_nanos) / 1'000;
}

RowModules::RowModules(std::span<const int> modules) {
  build_ids_.reserve(modules.size());
  modules_.reserve(modules.size());
  for (const int index : modules) {
    const Module& module = module_at(static_cast<std::size_t>(index));
    build_ids_.push_back(module.build_id_hex());
    modules_.push_back(
        {module.path, build_ids_.back(), module.load_address, module.size()});
  }
}

}  // namespace mishap::collector
