// Writes a file of its own between two helpers, which write files too: a shell,
// and Python where there is one. Fails when one of them does.
#include <cstdio>
#include <cstdlib>

namespace {

bool write_own() {
  std::FILE* const file = std::fopen("own.txt", "w");
  if (file == nullptr) {
    return false;
  }
  const bool is_written = std::fputs("own\n", file) >= 0;
  return std::fclose(file) == 0 && is_written;
}

// Not the program's own failure: it says so by another status.
void start(const char* command) {
  if (std::system(command) != 0) {
    std::fprintf(stderr, "failed: %s\n", command);
    std::_Exit(7);
  }
}

}  // namespace

int main() {
  start(
      "mkdir -p made && echo helper > made/shell.txt && "
      "mv made/shell.txt made/moved.txt && cat made/moved.txt > /dev/null");
  const bool is_written = write_own();
  start(
      "if command -v python3 > /dev/null; then "
      "python3 -c 'open(\"made/python.txt\", \"w\").write(\"helper\")'; fi");
  return is_written ? 0 : 1;
}
