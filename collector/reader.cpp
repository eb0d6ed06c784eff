#include <mishap/collector/json_depth.h>
#include <mishap/collector/reader.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

namespace mishap::collector {

using nlohmann::json;

struct StoredRecord::Tree {
  json root;

  const json* find(std::string_view pointer) const {
    try {
      const json::json_pointer path{std::string(pointer)};
      return root.contains(path) ? &root.at(path) : nullptr;
    } catch (const json::exception&) {
      return nullptr;
    }
  }
};

StoredRecord::StoredRecord(std::string line) : line_(std::move(line)) {}

StoredRecord StoredRecord::parse(std::string line) {
  StoredRecord record(std::move(line));
  if (json_depth(record.line_) > kMaxJsonDepth) {
    throw BadRecord("nested too deeply");
  }
  auto tree = std::make_shared<Tree>();
  try {
    tree->root = json::parse(record.line_);
  } catch (const json::exception&) {
    throw BadRecord("not valid JSON");
  }
  if (!tree->root.is_object()) throw BadRecord("not a JSON object");
  record.tree_ = std::move(tree);
  return record;
}

std::string StoredRecord::id() const {
  if (auto id = text("/record_id")) return *std::move(id);
  return text("/run_id").value_or("");
}

std::optional<std::string> StoredRecord::text(std::string_view pointer) const {
  const json* const value = tree_->find(pointer);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->get<std::string>();
}

std::optional<std::int64_t> StoredRecord::integer(
    std::string_view pointer) const {
  const json* const value = tree_->find(pointer);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_integer()) return value->get<std::int64_t>();
  if (!value->is_string()) return std::nullopt;
  const auto& digits = value->get_ref<const std::string&>();
  const char* const end = digits.data() + digits.size();
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<double> StoredRecord::number(std::string_view pointer) const {
  const json* const value = tree_->find(pointer);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::optional<bool> StoredRecord::flag(std::string_view pointer) const {
  const json* const value = tree_->find(pointer);
  if (value == nullptr || !value->is_boolean()) return std::nullopt;
  return value->get<bool>();
}

std::size_t StoredRecord::size(std::string_view pointer) const {
  const json* const value = tree_->find(pointer);
  return value != nullptr && value->is_structured() ? value->size() : 0;
}

RecordReader::RecordReader(std::istream& input, std::string name)
    : input_(input), name_(name == "-" ? "standard input" : std::move(name)) {
  if (!input_) {
    throw BadRecord(name_ + ": cannot be read; check the path");
  }
}

std::optional<StoredRecord> RecordReader::next() {
  std::string line;
  while (std::getline(input_, line)) {
    ++line_number_;
    const bool last_without_newline = input_.eof();
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      StoredRecord record = StoredRecord::parse(std::move(line));
      const std::string id = record.id();
      if (id.empty()) throw BadRecord("it has no record_id");
      if (!seen_.insert(id).second) {
        ++duplicates_;
        continue;
      }
      return record;
    } catch (const BadRecord& problem) {
      if (last_without_newline) {
        torn_ = true;
        return std::nullopt;
      }
      throw BadRecord(name_ + ":" + std::to_string(line_number_) +
                      ": this line is no record: " + problem.what());
    }
  }
  if (input_.bad()) throw BadRecord(name_ + ": reading failed; is it a file?");
  return std::nullopt;
}

}  // namespace mishap::collector
