#include <fcntl.h>
#include <mishap/trainer/harness/program/control_file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace mishap::program {
namespace {

template <std::size_t kSize>
void put(Text<kSize>& target, std::string_view text, const char* what) {
  if (text.size() >= kSize) {
    throw std::length_error(std::string(what) + " is longer than " +
                            std::to_string(kSize - 1) + " bytes");
  }
  target.bytes.fill('\0');
  std::ranges::copy(text, target.bytes.begin());
}

std::string lines_of(const std::vector<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts) {
    lines += lines.empty() ? text : '\n' + text;
  }
  return lines;
}

}  // namespace

ControlFile::ControlFile(std::string path) : path_(std::move(path)) {
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file_ < 0 || ftruncate(file_, sizeof(Control)) != 0) {
    throw std::system_error(errno, std::generic_category(), path_);
  }
  void* const mapped = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_NORESERVE, file_, 0);
  if (mapped == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), path_);
  }
  control_ = static_cast<Control*>(mapped);
}

ControlFile::~ControlFile() {
  munmap(control_, sizeof(Control));
  close(file_);
}

void ControlFile::begin(const RunOrder& order) const {
  // Gives the pages back; they read as zeros afterwards.
  if (ftruncate(file_, 0) != 0 || ftruncate(file_, sizeof(Control)) != 0) {
    throw std::system_error(errno, std::generic_category(), path_);
  }
  Control& control = *control_;
  control.magic = kControlMagic;
  control.version = kControlVersion;
  control.mode = static_cast<std::uint32_t>(order.mode);
  control.text_size = 1;
  put(control.patterns, lines_of(order.patterns), "the list of points");
  put(control.files, lines_of(order.files), "the list of files");
  put(control.case_stderr, order.case_stderr, "the path of the scratch folder");
  put(control.torch_part, order.torch_part, "the path of the torch part");
}

void ControlFile::add_case(std::string_view point, std::uint64_t hit,
                           std::string_view action, bool is_persistent) const {
  Control& control = *control_;
  const std::uint32_t count = control.point_count;
  std::uint32_t index = 0;
  while (index < count && text_of(control.points[index].name) != point) {
    ++index;
  }
  if (index == kPoints || control.case_count == kCases) {
    throw std::length_error("too many cases for one run; use --budget");
  }
  if (index == count) {
    put(control.points[index].name, point, "the name of a point");
    control.point_count = count + 1;
  }
  CaseEntry& entry = control.cases[control.case_count];
  entry.point = index;
  entry.hit = hit;
  entry.is_persistent = is_persistent ? 1 : 0;
  put(entry.action, action, "an action");
  ++control.case_count;
}

void ControlFile::clear_report() const {
  CaseReport& report = control_->report;
  report.has_fired = 0;
  report.child = 0;
  report.wait_status = 0;
  report.hit_frame_count = 0;
  report.hit_python = kNoText;
  report.path = kNoText;
  report.has_thrown = 0;
  report.thrown_type.bytes.fill('\0');
  report.thrown_text.bytes.fill('\0');
  report.throw_frame_count = 0;
  report.catch_kind = 0;
  report.catch_frame_count = 0;
  report.catch_python = kNoText;
  report.threads_left = 0;
}

std::string ControlFile::text(std::uint32_t index) const {
  if (index == kNoText || index >= kTextBytes) {
    return {};
  }
  const char* const begin = control_->text.data() + index;
  return std::string(begin, strnlen(begin, kTextBytes - index));
}

bool is_understood(const Control& control) {
  return control.magic == kControlMagic && control.version == kControlVersion;
}

}  // namespace mishap::program
