#include <mishap/collector/io/rotation.h>
#include <mishap/collector/recover_pending.h>
#include <mishap/collector/sink.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/records_input.h>
#include <mishap/trainer/harness/cli/values.h>
#include <unistd.h>

#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <utility>

namespace mishap::cli {
namespace {

using collector::BadRecord;
using collector::RecordReader;
using collector::StoredRecord;

void recover(const std::filesystem::path& folder) {
  if (access(folder.c_str(), W_OK) != 0) {
    return;
  }
  collector::SinkOptions options;
  options.folder = folder.string();
  collector::RecordSink sink(std::move(options));
  collector::recover_pending(sink);
}

// Lines that are no records, told in one line.
class Damage {
 public:
  explicit Damage(bool is_told) : is_told_(is_told) {}
  ~Damage() {
    if (count_ > 0 && is_told_) {
      std::fprintf(stderr, "mishap: %s; passed over%s\n", first_.c_str(),
                   count_ == 1 ? ""
                               : (", as were " + std::to_string(count_ - 1) +
                                  " more lines")
                                     .c_str());
    }
  }
  Damage(const Damage&) = delete;
  Damage& operator=(const Damage&) = delete;

  void note(const BadRecord& problem) {
    if (count_++ == 0) {
      first_ = problem.what();
    }
  }
  void throw_if_any() {
    if (count_ > 0) {
      is_told_ = false;
      throw BadRecord(first_ + "; name a records.jsonl");
    }
  }

 private:
  bool is_told_;
  std::size_t count_ = 0;
  std::string first_;
};

// Chooses among the records of files that are read one after another.
class Chooser {
 public:
  explicit Chooser(const RecordChoice& choice) : choice_(choice) {}

  void read(std::istream& input, const std::string& name) {
    RecordReader reader(input, name);
    for (bool more = true; more;) {
      try {
        std::optional<StoredRecord> record = reader.next();
        more = record.has_value();
        if (more) {
          take(*std::move(record), name);
        }
      } catch (const BadRecord& problem) {
        damage_.note(problem);
        more = !input.bad();
      }
    }
    if (reader.torn()) {
      damage_.note(BadRecord(shown(name) + ":" +
                             std::to_string(reader.line_number()) +
                             ": this line is cut off, by a writer at work or "
                             "one that died"));
    }
  }

  ChosenRecords chosen(const std::string& name) {
    if (chosen_.total == 0) {
      damage_.throw_if_any();
      throw InputError(shown(name) +
                       " holds no records; either nothing has failed, or "
                       "the records went to another folder");
    }
    if (kept_.empty()) {
      throw InputError("none of the " + std::to_string(chosen_.total) +
                       " records in " + shown(name) + " has the id '" +
                       choice_.id +
                       "'; 'mishap show --all' shows them with their ids");
    }
    if (!choice_.id.empty() && kept_.size() > 1) {
      throw InputError(std::to_string(kept_.size()) + " records in " +
                       shown(name) + " have an id that begins with '" +
                       choice_.id + "'; give more of it");
    }
    chosen_.records.assign(kept_.begin(), kept_.end());
    return std::move(chosen_);
  }

 private:
  static std::string shown(const std::string& name) {
    return name == "-" ? "standard input" : name;
  }

  void take(StoredRecord record, const std::string& name) {
    if (!record.text("/record_id")) {
      throw InputError(shown(name) +
                       " holds rows of runs; name a records.jsonl");
    }
    ++chosen_.total;
    if (choice_.id.empty()) {
      kept_.push_back(std::move(record));
      if (kept_.size() > choice_.last) {
        kept_.pop_front();
      }
    } else if (record.id().starts_with(choice_.id)) {
      kept_.push_back(std::move(record));
    }
  }

  const RecordChoice& choice_;
  ChosenRecords chosen_;
  std::deque<StoredRecord> kept_;
  Damage damage_{true};
};

ChosenRecords choose(std::istream& input, const std::string& name,
                     const RecordChoice& choice) {
  Chooser chooser(choice);
  chooser.read(input, name);
  return chooser.chosen(name);
}

}  // namespace

ChosenRecords read_records(const std::string& path,
                           const RecordChoice& choice) {
  if (path == "-") {
    return choose(std::cin, path, choice);
  }
  std::filesystem::path file = path;
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    file /= "records.jsonl";
  }
  const std::filesystem::path folder =
      std::filesystem::path(absolute_path("FILE", file.string())).parent_path();
  if (std::filesystem::exists(file, error) &&
      !std::filesystem::is_regular_file(file, error) &&
      !std::filesystem::is_directory(file, error)) {
    // To open a pipe that nobody writes into never ends.
    throw InputError(file.string() +
                     " is no regular file; name a records.jsonl, or send the "
                     "records to standard input and name -");
  }
  if (file.filename() == "records.jsonl") {
    recover(folder);
  }
  if (!std::filesystem::exists(file, error)) {
    throw InputError("there is no file " + file.string() +
                     "; name a records.jsonl, the folder it lies in, or - for "
                     "standard input");
  }
  if (std::filesystem::is_directory(file, error)) {
    throw InputError(file.string() +
                     " is a folder; name a records.jsonl or the folder it lies "
                     "in");
  }
  Chooser chooser(choice);
  // Those that were put aside hold what went before.
  const std::vector<std::string> parts =
      file.filename() == "records.jsonl"
          ? collector::with_rotated(file.string())
          : std::vector{file.string()};
  for (const std::string& part : parts) {
    std::ifstream input(part, std::ios::binary);
    chooser.read(input, part);
  }
  ChosenRecords chosen = chooser.chosen(file.string());
  chosen.folder = folder.string();
  return chosen;
}

}  // namespace mishap::cli
