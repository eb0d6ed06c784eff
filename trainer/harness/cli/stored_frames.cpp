#include <fcntl.h>
#include <mishap/collector/modules.h>
#include <mishap/collector/resolve/resolver.h>
#include <mishap/trainer/harness/cli/stored_frames.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace mishap::cli {
namespace {

using collector::NamedFrame;
using collector::StoredRecord;

// A file that makes the child hang, or that takes it this long, names nothing.
constexpr unsigned kMaxSeconds = 60;

// The answer of the child: a line "@" for each address, then four lines for
// each function there, the innermost first.
std::string names_as_text(const std::string& file, bool is_foreign,
                          const std::vector<std::uint64_t>& offsets) {
  std::ostringstream text;
  for (const std::uint64_t offset : offsets) {
    text << "@\n";
    for (const collector::Frame& frame :
         collector::names_in_file(file, offset, is_foreign)) {
      const auto name = frame.function.empty() ? frame.symbol : frame.function;
      text << name << '\n'
           << frame.file << '\n'
           << frame.line << '\n'
           << frame.in_app << '\n';
    }
  }
  return text.str();
}

std::vector<std::vector<NamedFrame>> parse(const std::string& answer) {
  std::vector<std::vector<NamedFrame>> all;
  std::istringstream lines(answer);
  NamedFrame frame;
  std::string line;
  std::string in_app;
  while (std::getline(lines, frame.function)) {
    if (frame.function == "@") {
      all.emplace_back();
    } else if (std::getline(lines, frame.file) && std::getline(lines, line) &&
               std::getline(lines, in_app) && !all.empty()) {
      frame.line = static_cast<std::int32_t>(std::atoi(line.c_str()));
      frame.in_app = in_app == "1";
      if (!frame.function.empty()) {
        all.back().push_back(frame);
      }
    }
  }
  return all;
}

void write_all(int target, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(target, text.data(), text.size());
    if (written <= 0) {
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string read_all(int source) {
  std::string text;
  std::array<char, 4096> part;
  for (ssize_t size = 0; (size = read(source, part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(size));
  }
  return text;
}

// What `work` gives in a child process; what came of it, if that one dies.
template <class Work>
std::string in_child(Work work) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  const pid_t child = fork();
  if (child == 0) {
    alarm(kMaxSeconds);
    // A crash in here is no failure of the program.
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGALRM}) {
      std::signal(signal, SIG_DFL);
    }
    try {
      write_all(ends[1], work());
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text = child < 0 ? std::string() : read_all(ends[0]);
  close(ends[0]);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

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
      // A run that hung and went on has a second row, which knows more modules.
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
  const auto answers = parse(in_child(
      [&] { return names_as_text(file.symbols, is_foreign, offsets); }));
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
