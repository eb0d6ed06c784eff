#include <mishap/trainer/harness/contract/record_watch.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

namespace mishap {
namespace {

// Takes the few keys that a judge needs and builds no tree.
class NeededKeys final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit NeededKeys(RecordSeen& out) : out_(out) {}

  bool null() override { return done(); }
  bool boolean(bool) override { return done(); }
  bool number_integer(number_integer_t value) override { return number(value); }
  bool number_unsigned(number_unsigned_t value) override {
    return number(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t, const string_t&) override { return done(); }
  bool binary(binary_t&) override { return done(); }
  bool string(string_t& value) override {
    if (target_ != nullptr) {
      *target_ = value;
    }
    return done();
  }
  bool key(string_t& name) override {
    if (depth_ == 1) {
      list_ = name == "suppressed" ? List::kSuppressed
              : name == "cleanup"  ? List::kCleanup
              : name == "threads"  ? List::kThreads
                                   : List::kOther;
      target_ = member(name);
    } else if (depth_ == kInEntry && list_ == List::kSuppressed &&
               name == "component") {
      target_ = &out_.suppressed.emplace_back();
    } else if (depth_ == kInEntry && list_ == List::kCleanup) {
      target_ = member_of_piece(name);
      is_micros_ = name == "micros";
    } else {
      target_ = nullptr;
    }
    return true;
  }
  bool start_object(std::size_t) override {
    if (list_ == List::kCleanup && depth_ + 1 == kInEntry) {
      out_.cleanup.emplace_back();
    }
    if (list_ == List::kThreads && depth_ + 1 == kInEntry) {
      ++out_.threads;
    }
    return down();
  }
  bool end_object() override { return up(); }
  bool start_array(std::size_t) override { return down(); }
  bool end_array() override { return up(); }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception&) override {
    return false;
  }

 private:
  // The record, a list in it, an object in that.
  static constexpr int kInEntry = 3;
  enum class List { kOther, kSuppressed, kCleanup, kThreads };

  bool done() {
    target_ = nullptr;
    is_micros_ = false;
    return true;
  }
  bool number(std::int64_t value) {
    if (is_micros_) {
      out_.cleanup.back().micros = value;
    }
    return done();
  }
  bool down() {
    ++depth_;
    return done();
  }
  bool up() {
    --depth_;
    return done();
  }
  std::string* member(std::string_view name) {
    if (name == "record_id") return &out_.record_id;
    if (name == "run_id") return &out_.run_id;
    if (name == "parent_run_id") return &out_.parent_run_id;
    if (name == "kind") return &out_.kind;
    if (name == "entry_point") return &out_.entry_point;
    if (name == "stage") return &out_.stage;
    if (name == "hook") return &out_.hook;
    if (name == "component") return &out_.component;
    return nullptr;
  }

  std::string* member_of_piece(std::string_view name) {
    CleanupSeen& piece = out_.cleanup.back();
    if (name == "step") return &piece.step;
    if (name == "component") return &piece.component;
    if (name == "outcome") return &piece.outcome;
    return nullptr;
  }

  RecordSeen& out_;
  std::string* target_ = nullptr;
  List list_ = List::kOther;
  bool is_micros_ = false;
  int depth_ = 0;
};

std::uint64_t size_of(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

}  // namespace

RecordWatch::RecordWatch(std::string path)
    : path_(std::move(path)), offset_(size_of(path_)) {}

std::vector<RecordSeen> RecordWatch::read_new() {
  std::vector<RecordSeen> records;
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset_));
  std::string line;
  while (std::getline(file, line)) {
    offset_ += line.size() + 1;
    RecordSeen record;
    NeededKeys reader(record);
    if (!nlohmann::json::sax_parse(line, &reader)) {
      record.kind = "unreadable";
    }
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace mishap
