// Streams and copies, for a test of the preload library's agent: what is
// written when a buffer is full, flushed or closed, and the calls that let a
// file grow.
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "agent_program.h"

namespace mishap::testing {
namespace {

void closes_late() {
  std::FILE* const stream = std::fopen("late", "w");
  say("fputs", std::fputs("held back", stream) >= 0, 1);
  errno = 0;
  say("fclose", std::fclose(stream), 0);
}

// Through a buffer of four bytes.
void puts_and_gets() {
  std::FILE* const stream = std::fopen("chars", "w+");
  char buffer[4];
  std::setvbuf(stream, buffer, _IOFBF, sizeof buffer);
  long put = 0;
  for (const char* c = "abcdefg"; *c != '\0'; ++c) {
    put += std::putc(*c, stream) != EOF;
  }
  say("putc", put, 7);
  say("put error", std::ferror(stream) != 0, 0);
  say("fflush", std::fflush(stream), 0);
  say("nothing to flush", std::fflush(stream), 0);
  std::clearerr(stream);
  std::rewind(stream);
  say("getc", std::getc(stream), 'a');
  say("getc again", std::getc(stream), 'b');
  char word[8] = {};
  say("fscanf", std::fscanf(stream, "%2s", word), 1);
  say("fgetc", std::fgetc(stream), 'e');
  say("get error", std::ferror(stream) != 0, 0);
  say("fclose chars", std::fclose(stream), 0);
}

void puts_unbuffered() {
  std::FILE* const stream = std::fopen("plain", "w");
  std::setvbuf(stream, nullptr, _IONBF, 0);
  say("unbuffered", std::fputc('x', stream), 'x');
  say("unlocked", putc_unlocked('y', stream), 'y');
  std::fclose(stream);
}

void grows() {
  const int from = ::open("source", O_RDWR | O_CREAT | O_TRUNC, 0600);
  say("dprintf", ::dprintf(from, "%d", 12345678), 8);
  const int to = ::open("grown", O_RDWR | O_CREAT | O_TRUNC, 0600);
  off_t at = 0;
  say("sendfile", ::sendfile(to, from, &at, 8), 8);
  off64_t begin = 0;
  say("copy_file_range", ::copy_file_range(from, &begin, to, nullptr, 8, 0), 8);
  iovec part{const_cast<char*>("end"), 3};
  say("pwritev2", ::pwritev2(to, &part, 1, 16, 0), 3);
  errno = 0;
  say("posix_fallocate", ::posix_fallocate(to, 0, 100), 0);
  say("errno", errno, 0);
  say("fallocate", ::fallocate(to, 0, 0, 200), 0);
  ::close(to);
  ::close(from);
}

void makes_temporary() {
  char path[] = "temporary.XXXXXX";
  const int file = ::mkstemp(path);
  say("mkstemp", file < 0 ? -1 : 0, 0);
  if (file >= 0) {
    ::close(file);
    ::unlink(path);
  }
}

}  // namespace

int streams() {
  closes_late();
  puts_and_gets();
  puts_unbuffered();
  grows();
  makes_temporary();
  return 0;
}

}  // namespace mishap::testing
