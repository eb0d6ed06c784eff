// An ordinary program with files and no LibTorch, to be swept: reads notes,
// counts their words, replaces a summary, appends to a log, keeps pages in a
// folder. With "careless" it hides some of what goes wrong.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

bool is_careless = false;

class File {
 public:
  File(const std::string& path, int flags)
      : path_(path), number_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (number_ < 0) {
      throw std::runtime_error(path + ": " + std::strerror(errno));
    }
  }
  ~File() {
    if (number_ >= 0) {
      close(number_);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string read_all() const {
    std::string text;
    char block[64];
    for (ssize_t got = 0; (got = read(number_, block, sizeof block)) != 0;) {
      if (got < 0) {
        throw std::runtime_error(path_ + ": " + std::strerror(errno));
      }
      text.append(block, static_cast<std::size_t>(got));
    }
    return text;
  }
  void write_all(const std::string& text) const {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t wrote =
          write(number_, text.data() + done, text.size() - done);
      if (wrote < 0) {
        throw std::runtime_error(path_ + ": " + std::strerror(errno));
      }
      done += static_cast<std::size_t>(wrote);
    }
  }
  void finish() {
    const int number = number_;
    number_ = -1;
    const bool is_safe = fsync(number) == 0;
    if (close(number) != 0 || !is_safe) {
      throw std::runtime_error(path_ + ": " + std::strerror(errno));
    }
  }

 private:
  std::string path_;
  int number_;
};

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + ' ') {
    if (c != ' ' && c != '\n') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(word);
      word.clear();
    }
  }
  return words;
}

void replace(const std::string& path, const std::string& text) {
  const std::string next = path + ".next";
  try {
    File file(next, O_WRONLY | O_CREAT | O_TRUNC);
    file.write_all(text);
    file.finish();
    if (rename(next.c_str(), path.c_str()) != 0) {
      throw std::runtime_error(path + ": " + std::strerror(errno));
    }
  } catch (...) {
    if (!is_careless) {
      unlink(next.c_str());
    }
    throw;
  }
}

void log(const std::string& text) {
  try {
    File file("notes.log", O_WRONLY | O_CREAT | O_APPEND);
    file.write_all(text + '\n');
    file.finish();
  } catch (const std::exception&) {  // HIDES WHAT FAILED
    if (!is_careless) {
      throw;
    }
  }
}

void keep_pages(const std::map<std::string, int>& counts) {
  if (mkdir("pages", 0755) != 0 && errno != EEXIST) {
    throw std::runtime_error(std::string("pages: ") + std::strerror(errno));
  }
  int number = 0;
  for (const auto& [word, count] : counts) {
    const auto text = std::make_unique<std::string>(
        word + ' ' + std::to_string(count) + " times in all notes\n");
    replace("pages/page" + std::to_string(++number), *text);
  }
}

void work() {
  const std::string text = File("notes.txt", O_RDONLY).read_all();
  log("begin");
  std::map<std::string, int> counts;
  for (const std::string& word : words_of(text)) {
    ++counts[word];
  }
  std::string summary;
  for (const auto& [word, count] : counts) {
    summary += word + '=' + std::to_string(count) + '\n';
  }
  keep_pages(counts);
  replace("summary.txt", summary);
  log("end of a run with " + std::to_string(counts.size()) + " words");
}

}  // namespace

int main(int argc, char** argv) {
  is_careless = argc > 1 && std::strcmp(argv[1], "careless") == 0;
  try {
    work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "notes: %s\n", error.what());
    return 1;
  }
  return 0;
}
