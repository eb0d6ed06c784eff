#include <fcntl.h>
#include <mishap/collector/json_depth.h>
#include <mishap/collector/label/stored_label.h>
#include <mishap/collector/pending/killed_record.h>
#include <mishap/collector/pending/slot_format.h>
#include <mishap/collector/recover_pending.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace mishap::collector {
namespace {

using nlohmann::ordered_json;

class File {
 public:
  explicit File(const std::string& path)
      : descriptor_(
            open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int get() const { return descriptor_; }

  // Somebody else's slot in a shared temporary folder is not ours to judge.
  bool is_our_own() const {
    struct stat status {};
    return descriptor_ >= 0 && fstat(descriptor_, &status) == 0 &&
           S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           status.st_nlink == 1;
  }

  bool lock() const { return flock(descriptor_, LOCK_EX | LOCK_NB) == 0; }

  bool read(void* out, std::size_t size, off_t offset) const {
    return pread(descriptor_, out, size, offset) == static_cast<ssize_t>(size);
  }

 private:
  int descriptor_;
};

template <std::size_t kSize>
std::string_view text_of(const std::array<char, kSize>& text) {
  return {text.data(), strnlen(text.data(), kSize)};
}

bool is_of_this_boot(const SlotHeader& header) {
  return text_of(header.boot_id) == boot_id();
}

bool owner_is_alive(const SlotHeader& header) {
  if (!is_of_this_boot(header)) return false;
  const auto ticks = start_ticks(header.pid);
  return ticks && *ticks == header.start_ticks;
}

// What another release of ours left: its own to read.
bool is_of_another_version(const SlotHeader& header) {
  constexpr std::size_t kName = SlotHeader::kMagic.size() - 1;
  return header.magic != SlotHeader::kMagic &&
         std::equal(header.magic.begin(), header.magic.begin() + kName,
                    SlotHeader::kMagic.begin());
}

std::int64_t pid_in_name(std::string_view name) {
  constexpr std::int64_t kMaxPid = 1 << 22;
  std::int64_t pid = 0;
  for (const char digit : name.substr(kSlotPrefix.size())) {
    if (digit < '0' || digit > '9' || pid > kMaxPid) break;
    pid = pid * 10 + (digit - '0');
  }
  return pid;
}

std::string read_text(const File& file, const SlotHeader& header,
                      std::uint32_t index) {
  const SlotTextInfo& info = header.texts[index];
  if (info.size == 0 || info.size > kRecordBufferBytes) return {};
  std::string text(info.size, '\0');
  if (!file.read(text.data(), text.size(), slot_text_offset(index)) ||
      slot_checksum(text) != info.checksum) {
    return {};
  }
  return text;
}

std::string dump(const ordered_json& record) {
  return record.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

template <typename Number>
ordered_json or_null(const std::optional<Number>& number) {
  return number ? ordered_json(*number) : ordered_json();
}

ordered_json or_null(std::string_view text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

// A status that the process itself knew stays.
void add_exit(ordered_json& out, const RecordExit& exit) {
  if (exit.status) out["status"] = *exit.status;
  out["signal"] = or_null(exit.signal);
  out["oom_kills_before"] = or_null(exit.oom_kills_before);
  out["oom_kills_after"] = or_null(exit.oom_kills_after);
  out["memory_peak_bytes"] = or_null(exit.memory_peak_bytes);
  out["memory_limit_bytes"] = or_null(exit.memory_limit_bytes);
  if (!exit.stderr_tail.empty()) out["stderr_tail"] = exit.stderr_tail;
}

// Category and group, which go by kind and place.
void label(ordered_json& record) {
  StoredLabels labels;
  try {
    labels = labels_of(StoredRecord::parse(dump(record)));
  } catch (const BadRecord&) {
    return;
  }
  record["category"] = {{"name", or_null(labels.category)},
                        {"evidence", or_null(labels.evidence)}};
  record["fingerprint"] = {{"version", labels.version},
                           {"hash", labels.hash},
                           {"parts", labels.parts}};
}

// The line to append; empty when the slot holds none. Throws json::exception
// when its text is no record of ours.
std::string render(const File& file, const SlotPages& pages,
                   const Epitaph* epitaph) {
  const SlotHeader& header = pages.header;
  std::uint32_t index = header.active.load() & 1U;
  std::string text = read_text(file, header, index);
  if (text.empty()) {
    index = 1 - index;
    text = read_text(file, header, index);
  }
  if (text.empty() || json_depth(text) > kMaxJsonDepth) return {};
  const bool was_running = header.texts[index].state == SlotState::kRunning;
  if (was_running) text = killed_record(text, pages, is_of_this_boot(header));
  if (text.empty()) return {};
  auto record = ordered_json::parse(text, nullptr, false);
  if (!record.is_object()) return {};
  const std::string process = "process " + std::to_string(header.pid);
  if (was_running) {
    label(record);
    record["notes"].push_back(process +
                              " ended without reaching its guard; this is "
                              "where it was last");
  } else {
    record["notes"].push_back(process +
                              " ended before its record was appended");
  }
  if (epitaph != nullptr && epitaph->process == header.pid) {
    add_exit(record["exit"], epitaph->exit);
  }
  return dump(record) + "\n";
}

void recover_one(const std::filesystem::path& path, RecordSink& sink,
                 const Epitaph* epitaph, Recovered& recovered) {
  const File file(path);
  if (!file.is_our_own()) return;
  if (!file.lock()) {
    ++recovered.alive;
    return;
  }
  // Whoever held the lock until now may have removed it meanwhile.
  if (!file.is_our_own()) return;
  const auto pages = std::make_unique<SlotPages>();
  const SlotHeader& header = pages->header;
  if (!file.read(pages.get(), sizeof(SlotPages), 0) ||
      header.magic != SlotHeader::kMagic) {
    if (is_of_another_version(header)) return;
    // Its owner may be about to write the header.
    if (start_ticks(pid_in_name(path.filename().string()))) {
      ++recovered.alive;
      return;
    }
    ++recovered.damaged;
    unlink(path.c_str());
    return;
  }
  if (text_of(header.folder) != sink.folder()) return;
  if (owner_is_alive(header)) {
    ++recovered.alive;
    return;
  }
  std::string line;
  try {
    line = render(file, *pages, epitaph);
  } catch (const ordered_json::exception&) {
    line.clear();
  } catch (const std::logic_error&) {
    // A time that is no number.
    line.clear();
  }
  if (!line.empty()) {
    if (!sink.append_record(line)) return;
    ++recovered.appended;
  } else {
    ++recovered.damaged;
  }
  unlink(path.c_str());
}

}  // namespace

Recovered recover_pending(RecordSink& sink, const Epitaph* epitaph) noexcept {
  Recovered recovered;
  try {
    std::vector<std::string> folders = slot_fallback_folders();
    folders.insert(folders.begin(), sink.folder());
    for (const std::string& folder : folders) {
      std::error_code error;
      for (std::filesystem::directory_iterator entry(folder, error), end;
           !error && entry != end; entry.increment(error)) {
        if (entry->path().filename().string().starts_with(kSlotPrefix)) {
          recover_one(entry->path(), sink, epitaph, recovered);
        }
      }
    }
  } catch (const std::exception&) {
    // Out of memory: the next caller tries again.
  }
  return recovered;
}

}  // namespace mishap::collector
