#include <fcntl.h>
#include <mishap/trainer/engine/loggers/csv_logger.h>
#include <mishap/trainer/guard/errors.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

namespace mishap {
namespace {

std::string csv_number(double value) {
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return std::string(buffer.data(), end);
}

std::string csv_counter(std::int64_t value) {
  return value < 0 ? std::string() : std::to_string(value);
}

std::string csv_quoted(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) {
    return name;
  }
  std::string quoted = "\"";
  for (const char c : name) {
    quoted += c;
    if (c == '"') {
      quoted += c;
    }
  }
  return quoted + "\"";
}

class CsvFile {
 public:
  CsvFile(std::filesystem::path path, int flags)
      : path_(std::move(path)),
        fd_(::open(path_.c_str(), flags | O_WRONLY | O_CREAT | O_CLOEXEC,
                   0666)) {
    if (fd_ < 0) {
      fail();
    }
  }
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;
  ~CsvFile() { ::close(fd_); }

  void write(const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t count =
          ::write(fd_, text.data() + done, text.size() - done);
      if (count > 0) {
        done += static_cast<std::size_t>(count);
      } else if (errno != EINTR) {
        fail();
      }
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw std::system_error(errno, std::generic_category(),
                            "CsvLogger cannot write " + path_.string());
  }

  std::filesystem::path path_;
  int fd_;
};

}  // namespace

CsvLogger::CsvLogger(std::filesystem::path folder)
    : folder_(std::move(folder)) {}

void CsvLogger::experiment() {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    throw InputError("CsvLogger cannot make the folder " + folder_.string() +
                     " (" + error.message() +
                     "); give it a folder that can be written");
  }
}

void CsvLogger::log_metrics(const Metrics& metrics, const Place& place) {
  for (const auto& [name, value] : metrics) {
    rewrite_needed_ |= columns_.insert(name).second;
  }
  rows_.push_back({place, metrics});
}

void CsvLogger::save() {
  if (rows_saved_ == rows_.size()) {
    return;
  }
  // A failed write leaves a torn file behind: the next one starts anew.
  if (std::exchange(rewrite_needed_, true)) {
    rewrite();
  } else {
    append();
  }
  rewrite_needed_ = false;
  rows_saved_ = rows_.size();
}

void CsvLogger::finalize(FinalWord) { save(); }

std::string CsvLogger::header() const {
  std::string line = "stage,epoch,step";
  for (const std::string& name : columns_) {
    line += "," + csv_quoted(name);
  }
  return line + "\n";
}

std::string CsvLogger::text_of(const Row& row) const {
  std::string line(to_string(row.place.stage));
  line += "," + csv_counter(row.place.epoch);
  line += "," + csv_counter(row.place.step);
  for (const std::string& name : columns_) {
    line += ",";
    const auto value = row.metrics.find(name);
    if (value != row.metrics.end()) {
      line += csv_number(value->second);
    }
  }
  return line + "\n";
}

void CsvLogger::rewrite() {
  std::string text = header();
  for (const Row& row : rows_) {
    text += text_of(row);
  }
  const std::filesystem::path beside = folder_ / "metrics.csv.new";
  try {
    CsvFile file(beside, O_TRUNC);
    file.write(text);
    std::filesystem::rename(beside, this->file());
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    throw;
  }
}

void CsvLogger::append() {
  std::string text;
  for (std::size_t i = rows_saved_; i < rows_.size(); ++i) {
    text += text_of(rows_[i]);
  }
  CsvFile(file(), O_APPEND).write(text);
}

}  // namespace mishap
