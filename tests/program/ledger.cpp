// Keeps a ledger in the working folder: reads its settings and its state,
// appends an entry to the log, replaces the state, writes a report and an
// archive while a helper runs. `--careful` does each of these as one should;
// without it each holds a mistake that people make. `// CAUGHT name` marks the
// line at which a fault disappears.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

bool careful = false;

[[noreturn]] void fail(const char* what) { throw std::runtime_error(what); }

// A file of the C library that does not outlive its block.
struct File {
  File(const char* path, const char* mode) : stream(std::fopen(path, mode)) {
    if (stream == nullptr) {
      fail(path);
    }
  }
  ~File() {
    if (stream != nullptr) {
      std::fclose(stream);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(std::string_view text) const {
    if (std::fwrite(text.data(), 1, text.size(), stream) != text.size()) {
      fail("a file can't be written");
    }
  }
  void close() {
    std::FILE* const closing = stream;
    stream = nullptr;
    if (std::fclose(closing) != 0) {
      fail("a file can't be closed");
    }
  }

  std::FILE* stream;
};

// Gone with its block, unless it was given its name.
struct TemporaryFile {
  explicit TemporaryFile(const char* name) : path(name) {}
  ~TemporaryFile() {
    if (careful && path != nullptr) {
      unlink(path);
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void rename_to(const char* name) {
    if (std::rename(path, name) != 0) {
      fail("a file can't be renamed");
    }
    path = nullptr;
  }

  const char* path;
};

// A helper that runs beside; a careless owner forgets it when it fails.
struct Helper {
  Helper() {
    char name[] = "sleep";
    char seconds[] = "30";
    char* words[] = {name, seconds, nullptr};
    if (posix_spawnp(&pid, name, nullptr, nullptr, words, environ) != 0) {
      fail("no helper");
    }
  }
  ~Helper() {
    if (careful) {
      end();
    }
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  void end() {
    if (pid > 0) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
      pid = 0;
    }
  }

  pid_t pid = 0;
};

long read_number(const char* path) {
  File file(path, "r");
  char text[32] = {};
  const std::size_t size = std::fread(text, 1, sizeof(text) - 1, file.stream);
  if (std::ferror(file.stream) != 0) {
    fail("a file can't be read");
  }
  file.close();
  long number = 0;
  if (size == 0 || std::sscanf(text, "%ld", &number) != 1) {
    fail("a file holds no number");
  }
  return number;
}

// The step by which the ledger grows. A careless reader takes any failure for
// "there are no settings".
[[gnu::noinline]] long read_settings() {
  if (careful) {
    return read_number("ledger.conf");
  }
  try {
    return read_number("ledger.conf");
  } catch (const std::runtime_error&) {  // CAUGHT settings
    return 1;
  }
}

// A write that nobody looks at.
[[gnu::noinline]] void append_to_log(long count) {
  char line[64];
  const int size = std::snprintf(line, sizeof(line), "count %ld\n", count);
  const auto bytes = static_cast<std::size_t>(size);
  const int log = open("ledger.log", O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (log < 0) {
    fail("no log");
  }
  ssize_t written = 0;
  if (careful) {
    written = write(log, line, bytes);
  } else {
    (void)!write(log, line, bytes);  // CAUGHT log
    written = size;
  }
  if (close(log) != 0 || written != size) {
    fail("the log can't be written");
  }
}

// The old state is gone before the new one is there, and the close that may
// tell of a full disk is not looked at.
[[gnu::noinline]] void replace_state_in_place(const std::string& text) {
  std::FILE* const state = std::fopen("ledger.state", "w");
  if (state == nullptr) {
    fail("no state");
  }
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), state);
  std::fclose(state);  // CAUGHT state
  if (written != text.size()) {
    fail("the state can't be written");
  }
}

[[gnu::noinline]] void replace_state(const std::string& text) {
  TemporaryFile temporary("ledger.state.tmp");
  File file(temporary.path, "w");
  file.write(text);
  if (std::fflush(file.stream) != 0 || fsync(fileno(file.stream)) != 0) {
    fail("the state can't be written");
  }
  file.close();
  temporary.rename_to("ledger.state");
}

// A report without its second half is better than none, thought somebody.
[[gnu::noinline]] std::string describe(long count) {
  std::string text = "count " + std::to_string(count) + '\n';
  try {
    std::vector<std::string> words(static_cast<std::size_t>(count) % 3 + 3);
    for (std::string& word : words) {
      word.assign(40, '-');
      text += word + '\n';
    }
  } catch (...) {  // CAUGHT describe
    if (careful) {
      throw;
    }
  }
  return text;
}

// A temporary file that stays behind when the careless fail.
[[gnu::noinline]] void write_report(const std::string& text) {
  TemporaryFile temporary("report.tmp");
  File file(temporary.path, "w");
  file.write(text);
  file.close();
  temporary.rename_to("report.txt");
}

[[gnu::noinline]] void archive(const std::string& text) {
  Helper helper;
  File file("archive.txt", "a");
  file.write(text);
  file.close();
  helper.end();
}

}  // namespace

int main(int argc, char** argv) {
  careful = argc > 1 && std::strcmp(argv[1], "--careful") == 0;
  try {
    const long step = read_settings();
    const long count = read_number("ledger.state") + step;
    append_to_log(count);
    const std::string state = std::to_string(count) + '\n';
    if (careful) {
      replace_state(state);
    } else {
      replace_state_in_place(state);
    }
    const std::string text = describe(count);
    write_report(text);
    archive(text);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ledger: %s\n", error.what());
    return 1;
  }
}
