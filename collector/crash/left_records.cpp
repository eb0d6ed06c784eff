#include <mishap/collector/crash/left_records.h>
#include <mishap/collector/reader.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <system_error>

namespace mishap::collector {
namespace {

std::uint64_t size_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

void for_each_after(std::uint64_t offset, const std::string& path,
                    const std::function<void(const StoredRecord&)>& work) {
  std::ifstream file(path, std::ios::binary);
  // A file that was put aside meanwhile begins anew.
  if (offset > size_of(path)) offset = 0;
  if (!file.seekg(static_cast<std::streamoff>(offset))) return;
  RecordReader reader(file, path);
  for (bool more = true; more;) {
    try {
      const auto record = reader.next();
      more = record.has_value();
      if (more) work(*record);
    } catch (const BadRecord&) {
      more = !file.bad();
    }
  }
}

bool was_told(const StoredRecord& row, std::string_view watch_id) {
  for (std::size_t i = 0; i < row.size("/environment"); ++i) {
    const std::string entry = "/environment/" + std::to_string(i);
    if (row.text(entry + "/name") == "MISHAP_WATCH" &&
        row.text(entry + "/value") == watch_id) {
      return true;
    }
  }
  return false;
}

}  // namespace

LeftRecords::LeftRecords(const RecordSink& sink)
    : records_(sink.records_path()),
      runs_(sink.runs_path()),
      records_size_(size_of(records_)),
      runs_size_(size_of(runs_)) {}

std::vector<LeftRecords::Found> LeftRecords::of(
    pid_t process, std::string_view watch_id) const {
  std::set<std::string> runs;
  for_each_after(runs_size_, runs_, [&](const StoredRecord& row) {
    if (was_told(row, watch_id)) runs.insert(row.id());
  });
  std::vector<Found> found;
  for_each_after(records_size_, records_, [&](const StoredRecord& record) {
    if (record.integer("/process/pid") == process ||
        runs.contains(record.text("/run_id").value_or(""))) {
      found.push_back({record.id(), record.text("/kind").value_or("")});
    }
  });
  return found;
}

}  // namespace mishap::collector
