#include <mishap/collector/demangle.h>
#include <mishap/collector/resolve/in_app.h>
#include <mishap/trainer/harness/cli/child.h>
#include <mishap/trainer/harness/cli/stored_frames.h>

#include <charconv>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

namespace mishap::cli {
namespace {

using collector::NamedFrame;
using collector::StoredRecord;

// addr2line's answer: for each address a line with it, then a line with the
// function and one with file:line for each function there, the innermost first.
std::vector<std::vector<NamedFrame>> parse(const std::string& answer,
                                           const std::string& module) {
  std::vector<std::vector<NamedFrame>> all;
  std::istringstream lines(answer);
  std::string symbol;
  std::string place;
  while (std::getline(lines, symbol)) {
    if (symbol.starts_with("0x")) {
      all.emplace_back();
      continue;
    }
    if (!std::getline(lines, place)) break;
    if (symbol == "??" || all.empty()) continue;
    NamedFrame frame;
    frame.function = collector::demangle(symbol.c_str());
    const std::size_t colon = place.rfind(':');
    if (colon != std::string::npos && !place.starts_with("??")) {
      frame.file = place.substr(0, colon);
      std::from_chars(place.data() + colon + 1, place.data() + place.size(),
                      frame.line);
    }
    frame.in_app = collector::is_in_app(symbol, frame.function, frame.file,
                                        collector::is_system_module(module));
    all.back().push_back(std::move(frame));
  }
  return all;
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
    wanted[static_cast<std::size_t>(*module)].insert(
        std::strtoull(offset->c_str(), nullptr, 16));
  }
}

}  // namespace

StoredFrames::StoredFrames(const std::string& folder, const std::string& run_id,
                           std::vector<std::string> debug_folders)
    : debug_files_(std::move(debug_folders)) {
  if (folder.empty() || run_id.empty()) {
    return;
  }
  std::ifstream runs(folder + "/runs.jsonl");
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
      for (std::size_t i = 0; i < row.size("/modules"); ++i) {
        const std::string module = "/modules/" + std::to_string(i);
        files_.push_back({row.text(module + "/path").value_or(""),
                          row.text(module + "/build_id").value_or(""), "",
                          false});
      }
      return;
    } catch (const collector::BadRecord&) {
      continue;
    }
  }
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
  std::vector<std::string> words = {"addr2line", "-a", "-f",
                                    "-i",        "-e", file.symbols};
  for (const std::uint64_t offset : offsets) {
    names_[{module, offset}];
    // A return address belongs to the instruction after the call.
    std::ostringstream address;
    address << "0x" << std::hex << (offset == 0 ? 0 : offset - 1);
    words.push_back(address.str());
  }
  if (file.symbols.empty()) {
    return;
  }
  try {
    const ChildResult result = run_child(words, {});
    const auto answers = parse(result.output, file.path);
    for (std::size_t i = 0; i < answers.size() && i < offsets.size(); ++i) {
      names_[{module, offsets[i]}] = answers[i];
    }
  } catch (const std::system_error&) {
    // Without an addr2line the frames stay addresses.
  }
}

std::vector<NamedFrame> StoredFrames::name(
    const collector::UnnamedFrame& frame) {
  if (!frame.module || !frame.offset) {
    return {};
  }
  const std::pair key(*frame.module, *frame.offset);
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
