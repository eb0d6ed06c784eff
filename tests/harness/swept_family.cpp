// Writes a file of its own, then starts a helper by the name of swept_child,
// which replaces another file. With "careless" it doesn't ask what became of
// that.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace {

bool write_file(const char* path, const char* text) {
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) {
    return false;
  }
  const bool is_written = std::fputs(text, file) >= 0;
  return std::fclose(file) == 0 && is_written;
}

int help() {
  if (!write_file("helper.next", "helper\n") ||
      std::rename("helper.next", "helper.txt") != 0) {
    unlink("helper.next");
    return 1;
  }
  return 0;
}

bool helper_succeeds() {
  char name[] = "swept_child";
  char* words[] = {name, nullptr};
  pid_t helper = 0;
  int status = 0;
  return posix_spawn(&helper, "/proc/self/exe", nullptr, nullptr, words,
                     environ) == 0 &&
         waitpid(helper, &status, 0) == helper && status == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (std::strcmp(argv[0], "swept_child") == 0) {
    return help();
  }
  const bool is_careless = argc > 1 && std::strcmp(argv[1], "careless") == 0;
  return write_file("own.txt", "own\n") && (helper_succeeds() || is_careless)
             ? 0
             : 1;
}
