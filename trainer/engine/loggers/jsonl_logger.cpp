#include <fcntl.h>
#include <mishap/trainer/engine/loggers/jsonl_logger.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/guard/no_file_size_signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace mishap {
namespace {

using Json = nlohmann::ordered_json;

Json counter_or_null(std::int64_t value) {
  return value < 0 ? Json() : Json(value);
}

const char* jsonl_word(double value) noexcept {
  if (std::isnan(value)) {
    return "NaN";
  }
  return value > 0 ? "Infinity" : "-Infinity";
}

std::string line_of(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

// A file that gets all of a text or nothing.
class JsonlFile {
 public:
  explicit JsonlFile(std::string path)
      : path_(std::move(path)),
        fd_(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC,
                   0666)) {
    if (fd_ < 0) {
      throw FileError("open", path_, errno);
    }
  }
  JsonlFile(const JsonlFile&) = delete;
  JsonlFile& operator=(const JsonlFile&) = delete;
  ~JsonlFile() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  void append(const std::string& lines) {
    const off_t before = size();
    try {
      write(ends_in_a_line(before) ? lines : '\n' + lines);
    } catch (...) {
      // Nothing better is left when this fails too.
      [[maybe_unused]] const int ignored = ::ftruncate(fd_, before);
      throw;
    }
  }

  void close() {
    // Some file systems tell only now that there was no room.
    if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) {
      throw FileError("close", path_, errno);
    }
  }

 private:
  off_t size() const {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) {
      throw FileError("read", path_, errno);
    }
    return S_ISREG(status.st_mode) ? status.st_size : 0;
  }

  bool ends_in_a_line(off_t size) const {
    if (size == 0) {
      return true;
    }
    char last = 0;
    if (::pread(fd_, &last, 1, size - 1) < 0) {
      throw FileError("read", path_, errno);
    }
    return last == '\n';
  }

  void write(const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t count =
          ::write(fd_, text.data() + done, text.size() - done);
      if (count > 0) {
        done += static_cast<std::size_t>(count);
      } else if (count == 0 || errno != EINTR) {
        throw FileError("write", path_, count == 0 ? EIO : errno);
      }
    }
  }

  std::string path_;
  int fd_;
};

}  // namespace

JsonlLogger::JsonlLogger(std::filesystem::path folder)
    : folder_(std::move(folder)) {}

void JsonlLogger::experiment() {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  opened_ = !error;
  if (error) {
    throw InputError("JsonlLogger cannot make the folder " + folder_.string() +
                     " (" + error.message() +
                     "); give it a folder that can be written");
  }
}

void JsonlLogger::log_hyperparams(const Hyperparameters& parameters) {
  Json values = Json::object();
  for (const auto& [name, value] : parameters) {
    values[name] = value;
  }
  waiting_ +=
      line_of({{"kind", "hyperparameters"}, {"values", std::move(values)}});
}

void JsonlLogger::log_metrics(const Metrics& metrics, const Place& place) {
  Json values = Json::object();
  Json non_finite = Json::object();
  for (const auto& [name, value] : metrics) {
    if (std::isfinite(value)) {
      values[name] = value;
    } else {
      values[name] = nullptr;
      non_finite[name] = jsonl_word(value);
    }
  }
  Json line = {{"kind", "metrics"},
               {"stage", to_string(place.stage)},
               {"epoch", counter_or_null(place.epoch)},
               {"batch", counter_or_null(place.batch)},
               {"step", counter_or_null(place.step)},
               {"values", std::move(values)}};
  if (!non_finite.empty()) {
    line["non_finite"] = std::move(non_finite);
  }
  waiting_ += line_of(line);
}

void JsonlLogger::save() {
  if (waiting_.empty()) {
    return;
  }
  const detail::NoFileSizeSignal quiet;
  JsonlFile target(file().string());
  target.append(waiting_);
  target.close();
  waiting_.clear();
}

void JsonlLogger::finalize(FinalWord word) {
  // Where there is no folder a second error would say so once more.
  if (opened_) {
    waiting_ += line_of({{"kind", "end"}, {"word", to_string(word)}});
    save();
  }
}

}  // namespace mishap
