#include <mishap/trainer/harness/cli/debug_files.h>
#include <mishap/trainer/harness/cli/hung_threads.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

namespace mishap::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(2);
// All stacks together have to fit in a record.
constexpr std::size_t kFramesOfMain = 64;
constexpr std::size_t kFramesOfOthers = 32;

}  // namespace

// One line a mapping: "begin-end rights offset device inode path".
void HungThreads::read_files(pid_t process) {
  files_.clear();
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    unsigned long offset = 0;
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos ||
        std::sscanf(line.c_str(), "%lx-%lx %*s %lx", &begin, &end, &offset) !=
            3) {
      continue;
    }
    const std::string path = line.substr(slash);
    if (!files_.empty() && files_.back().path == path) {
      files_.back().end = end;
      continue;
    }
    if (const auto address = address_of_offset(path, offset)) {
      files_.push_back(
          {path, build_id_of(path), begin - *address, begin, end, {}});
    }
  }
}

collector::RecordFrame HungThreads::frame_at(std::uint64_t address) {
  collector::RecordFrame frame;
  frame.address = address;
  const auto found =
      std::find_if(files_.begin(), files_.end(), [&](const File& file) {
        return address >= file.begin && address < file.end;
      });
  if (found != files_.end()) {
    if (!found->row) {
      found->row = static_cast<std::uint32_t>(modules_.size());
      modules_.push_back({found->path, found->build_id, found->load_address,
                          found->end - found->begin});
    }
    frame.module = found->row;
    frame.offset = address - found->load_address;
  }
  return frame;
}

void HungThreads::ask(const std::string& path, pid_t process) {
  told_ = collector::dump_stacks(path, process, kPatience);
  threads_.clear();
  frames_.clear();
  modules_.clear();
  if (told_.empty()) {
    return;
  }
  read_files(process);
  std::size_t total = 0;
  const auto kept = [&](const collector::DumpedThread& thread) {
    return std::min<std::size_t>(thread.frame_count, &thread == &told_.front()
                                                         ? kFramesOfMain
                                                         : kFramesOfOthers);
  };
  for (const collector::DumpedThread& thread : told_) {
    total += kept(thread);
  }
  // The spans of the threads point into it.
  frames_.reserve(total);
  for (const collector::DumpedThread& thread : told_) {
    const std::size_t count = kept(thread);
    const std::size_t first = frames_.size();
    for (std::size_t i = 0; i < count; ++i) {
      frames_.push_back(frame_at(thread.addresses[i]));
    }
    collector::RecordThreadStack& stack = threads_.emplace_back();
    stack.id = thread.id;
    stack.name = thread.name();
    stack.role = thread.role();
    stack.state = thread.state();
    stack.stack.origin = count == 0 ? collector::StackOrigin::kNone
                                    : collector::StackOrigin::kWatchdog;
    stack.stack.truncated = thread.truncated != 0 || count < thread.frame_count;
    stack.stack.frames = std::span(frames_).subspan(first, count);
  }
}

}  // namespace mishap::cli
