#include <mishap/collector/privacy.h>
#include <mishap/collector/record.h>
#include <mishap/collector/record/line.h>
#include <mishap/collector/record/words.h>
#include <mishap/collector/redact.h>
#include <mishap/collector/run_row.h>

#include <algorithm>

namespace mishap::collector {
namespace {

constexpr int kMaxHalvings = 8;

struct RowLimits {
  std::size_t value_bytes = 4096;
  std::size_t name_bytes = 1024;
  std::size_t items = 1024;

  RowLimits halved() const noexcept {
    return {std::max<std::size_t>(value_bytes / 2, 32),
            std::max<std::size_t>(name_bytes / 2, 64),
            std::max<std::size_t>(items / 2, 8)};
  }
};

void write_pairs(Line& line, std::string_view key,
                 std::span<const NameValue> pairs, std::size_t limit) noexcept {
  line.objects(key, pairs, limit, Keep::kFirst, [&line](const NameValue& pair) {
    line.name("name", pair.name);
    line.text("value", is_secret_name(pair.name) ? kRedacted : pair.value);
  });
}

std::size_t write_with(const RunRow& row, std::span<char> buffer,
                       const RowLimits& limits) noexcept {
  Line line(buffer, limits.value_bytes, limits.name_bytes);
  line.begin();
  line.integer("schema_version", kSchemaVersion);
  line.name("run_id", row.run_id);
  line.name("parent_run_id", row.parent_run_id);
  line.name("entry_point", row.entry_point);
  line.decimal("start_unix_nano", row.start_unix_nano);
  line.decimal("end_unix_nano", row.end_unix_nano);
  line.integer("duration_micros", row.duration_micros);
  line.name("outcome", to_string(row.outcome));
  line.object("build", [&] {
    line.name("mishap", row.build.mishap);
    line.name("compiler", row.build.compiler);
    line.name("libtorch", row.build.libtorch);
    line.name("boost", row.build.boost);
    line.name("type", row.build.type);
  });
  line.objects("modules", row.modules, limits.items, Keep::kFirst,
               [&line](const RunModule& module) {
                 line.name("path", module.path);
                 line.name("build_id", module.build_id);
                 line.hex("load_address", module.load_address);
                 line.hex("size", module.size);
               });
  line.object("host", [&] {
    line.name("name", hides_host() ? kRedacted : row.host.name);
    line.name("system", row.host.system);
    line.integer("cpus", row.host.cpus);
    line.integer("memory_bytes", row.host.memory_bytes);
  });
  line.object("job", [&] {
    line.name("scheduler", row.job.scheduler);
    line.name("id", row.job.id);
    line.name("step", row.job.step);
    line.name("nodes", hides_host() && !row.job.nodes.empty() ? kRedacted
                                                              : row.job.nodes);
    line.name("container", row.job.container);
  });
  line.integer("pid", row.pid);
  line.name("working_directory", row.working_directory);
  line.texts("command_line", row.command_line, limits.items, Keep::kFirst);
  write_pairs(line, "environment", row.environment, limits.items);
  write_pairs(line, "options", row.options, limits.items);
  line.decimal("seed", row.seed);
  line.texts("record_ids", row.record_ids, limits.items, Keep::kFirst);
  line.objects("live_exceptions", row.live_exceptions, limits.items,
               Keep::kFirst, [&line](const RunLiveException& exception) {
                 line.name("type", exception.type);
                 line.integer("thread_id", exception.thread_id);
                 line.integer("age_micros", exception.age_micros);
                 line.name("function", exception.function);
                 line.integer("module", exception.module);
                 line.hex("offset", exception.offset);
               });
  line.end();
  return line.overflowed() ? 0 : line.size();
}

}  // namespace

std::size_t write_run_row(const RunRow& row, std::span<char> buffer) noexcept {
  RowLimits limits;
  for (int i = 0; i < kMaxHalvings; ++i) {
    if (const std::size_t size = write_with(row, buffer, limits)) return size;
    limits = limits.halved();
  }
  return 0;
}

}  // namespace mishap::collector
