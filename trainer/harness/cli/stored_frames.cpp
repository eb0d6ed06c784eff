#include <mishap/collector/io/rotation.h>
#include <mishap/collector/modules.h>
#include <mishap/trainer/harness/cli/names_in_child.h>
#include <mishap/trainer/harness/cli/stored_frames.h>

#include <cstdlib>
#include <fstream>
#include <set>

namespace mishap::cli {
namespace {

using collector::NamedFrame;
using collector::StoredRecord;

// A return address belongs to the instruction after the call.
std::uint64_t instruction(std::uint64_t offset, bool is_exact) {
  return is_exact || offset == 0 ? offset : offset - 1;
}

void add_unnamed(const StoredRecord& record, const std::string& stack,
                 std::map<std::size_t, std::set<std::uint64_t>>& wanted) {
  for (std::size_t i = 0; i < record.size(stack + "/frames"); ++i) {
    const std::string frame = stack + "/frames/" + std::to_string(i);
    const auto module = record.integer(frame + "/module");
    const auto offset = record.text(frame + "/offset");
    if (record.text(frame + "/function") || !module || *module < 0 || !offset) {
      continue;
    }
    const bool is_exact = i == 0 && record.text(stack + "/origin") == "signal";
    wanted[static_cast<std::size_t>(*module)].insert(
        instruction(std::strtoull(offset->c_str(), nullptr, 16), is_exact));
  }
}

}  // namespace

StoredFrames::StoredFrames(const std::string& folder, const std::string& run_id,
                           std::vector<std::string> debug_folders)
    : debug_files_(std::move(debug_folders)) {
  if (folder.empty() || run_id.empty()) {
    return;
  }
  // The row is written last of all, so the newest file is the likely one.
  std::vector<std::string> paths =
      collector::with_rotated(folder + "/runs.jsonl");
  bool is_found = false;
  for (; !paths.empty() && !is_found; paths.pop_back()) {
    is_found = read_row(paths.back(), run_id);
  }
}

bool StoredFrames::read_row(const std::string& path,
                            const std::string& run_id) {
  bool is_found = false;
  std::ifstream runs(path);
  std::string line;
  while (std::getline(runs, line)) {
    if (line.find(run_id) == std::string::npos) {
      continue;
    }
    try {
      const StoredRecord row = StoredRecord::parse(std::move(line));
      if (row.text("/run_id") != run_id) {
        continue;
      }
      // A run that hung and went on has a second row, which knows more modules.
      is_found = true;
      files_.clear();
      for (std::size_t i = 0; i < row.size("/modules"); ++i) {
        const std::string module = "/modules/" + std::to_string(i);
        files_.push_back({row.text(module + "/path").value_or(""),
                          row.text(module + "/build_id").value_or(""), "",
                          false});
      }
    } catch (const collector::BadRecord&) {
      continue;
    }
  }
  return is_found;
}

void StoredFrames::look_up(const StoredRecord& record) {
  std::map<std::size_t, std::set<std::uint64_t>> wanted;
  for (const std::string list : {"/exceptions", "/threads"}) {
    for (std::size_t i = 0; i < record.size(list); ++i) {
      add_unnamed(record, list + '/' + std::to_string(i) + "/stack", wanted);
    }
  }
  for (const auto& [module, offsets] : wanted) {
    ask(module, Offsets(offsets.begin(), offsets.end()));
  }
}

void StoredFrames::ask(std::size_t module, const Offsets& offsets) {
  if (module >= files_.size()) {
    return;
  }
  File& file = files_[module];
  if (!file.is_looked_for) {
    file.is_looked_for = true;
    file.symbols = debug_files_.find(file.path, file.build_id);
  }
  for (const std::uint64_t offset : offsets) {
    names_[{module, offset}];
  }
  if (file.symbols.empty()) {
    return;
  }
  const bool is_foreign = collector::is_system_module(file.path);
  const auto answers = names_in_child(file.symbols, is_foreign, offsets);
  for (std::size_t i = 0; i < answers.size() && i < offsets.size(); ++i) {
    names_[{module, offsets[i]}] = answers[i];
  }
}

std::vector<NamedFrame> StoredFrames::name(
    const collector::UnnamedFrame& frame) {
  if (!frame.module || !frame.offset) {
    return {};
  }
  const std::pair key(*frame.module, instruction(*frame.offset, frame.exact));
  if (!names_.contains(key)) {
    ask(key.first, {key.second});
  }
  const auto found = names_.find(key);
  return found == names_.end() ? std::vector<NamedFrame>() : found->second;
}

std::string StoredFrames::module_name(std::size_t module) const {
  if (module >= files_.size()) {
    return {};
  }
  const File& file = files_[module];
  return file.build_id.empty() ? file.path.substr(file.path.rfind('/') + 1)
                               : file.build_id;
}

}  // namespace mishap::cli
