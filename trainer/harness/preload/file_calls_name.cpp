// Calls that change the names of files: io/rename and io/mkdir; of the others
// it is only told what they did.
#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/file_filter.h>
#include <mishap/trainer/harness/preload/file_hits.h>
#include <mishap/trainer/harness/preload/file_path.h>
#include <mishap/trainer/harness/preload/open_files.h>
#include <mishap/trainer/harness/preload/real_calls.h>
#include <mishap/trainer/harness/preload/touched.h>

#include <cstdio>

namespace mishap::preload {
namespace {

using program::Touch;

bool is_told() noexcept {
  return looks_at_files() && getpid() == agent.process;
}

// Tells it when the call was done; gives what it gave.
int tell(int result, int folder, const char* path, Touch what) noexcept {
  if (result == 0 && is_told()) {
    const Inside inside;
    PathRoom room;
    touch(absolute_path(folder, path, room), what);
    forget_open_files();
  }
  return result;
}

int tell_rename(int result, int from_folder, const char* from, int to_folder,
                const char* to) noexcept {
  if (result == 0 && is_told()) {
    const Inside inside;
    PathRoom room;
    touch(absolute_path(from_folder, from, room), Touch::kRenamedAway);
    const std::string_view path = absolute_path(to_folder, to, room);
    touch(path, Touch::kRenamedTo);
    if (is_told_file(path)) {
      tell_version(keep_text(path));
    }
    forget_open_files();
  }
  return result;
}

// The call is a hit of the new name.
bool rename_fails(int folder, const char* to, const void* caller) {
  return looks_at_files() && fails(hit_path(kIoRename, folder, to, caller));
}

bool mkdir_fails(int folder, const char* path, const void* caller) {
  return looks_at_files() && fails(hit_path(kIoMkdir, folder, path, caller));
}

void tell_written(int result, int descriptor) noexcept {
  if (result == 0 && is_told()) {
    const Inside inside;
    touch(open_file(descriptor).told_path, Touch::kWritten);
    note_written(descriptor);
  }
}

// What a number stood for is closed unseen.
void tell_replaced(int descriptor) noexcept {
  if (is_told()) {
    const Inside inside;
    if (take_written(descriptor)) {
      tell_version(open_file(descriptor).told_path);
    }
  }
}

}  // namespace
}  // namespace mishap::preload

using namespace mishap::preload;

MISHAP_INTERPOSE int rename(const char* from, const char* to) noexcept {
  return rename_fails(AT_FDCWD, to, MISHAP_CALLER)
             ? -1
             : tell_rename(real.rename(from, to), AT_FDCWD, from, AT_FDCWD, to);
}

MISHAP_INTERPOSE int renameat(int from_folder, const char* from, int to_folder,
                              const char* to) noexcept {
  return rename_fails(to_folder, to, MISHAP_CALLER)
             ? -1
             : tell_rename(real.renameat(from_folder, from, to_folder, to),
                           from_folder, from, to_folder, to);
}

MISHAP_INTERPOSE int renameat2(int from_folder, const char* from, int to_folder,
                               const char* to, unsigned int flags) noexcept {
  return rename_fails(to_folder, to, MISHAP_CALLER)
             ? -1
             : tell_rename(
                   real.renameat2(from_folder, from, to_folder, to, flags),
                   from_folder, from, to_folder, to);
}

MISHAP_INTERPOSE int mkdir(const char* path, mode_t mode) noexcept {
  return mkdir_fails(AT_FDCWD, path, MISHAP_CALLER)
             ? -1
             : tell(real.mkdir(path, mode), AT_FDCWD, path, Touch::kFolderMade);
}

MISHAP_INTERPOSE int mkdirat(int folder, const char* path,
                             mode_t mode) noexcept {
  return mkdir_fails(folder, path, MISHAP_CALLER)
             ? -1
             : tell(real.mkdirat(folder, path, mode), folder, path,
                    Touch::kFolderMade);
}

MISHAP_INTERPOSE int unlink(const char* path) noexcept {
  return tell(real.unlink(path), AT_FDCWD, path, Touch::kRemoved);
}

MISHAP_INTERPOSE int unlinkat(int folder, const char* path,
                              int flags) noexcept {
  return tell(real.unlinkat(folder, path, flags), folder, path,
              Touch::kRemoved);
}

MISHAP_INTERPOSE int rmdir(const char* path) noexcept {
  return tell(real.rmdir(path), AT_FDCWD, path, Touch::kRemoved);
}

MISHAP_INTERPOSE int remove(const char* path) noexcept {
  return tell(real.remove(path), AT_FDCWD, path, Touch::kRemoved);
}

MISHAP_INTERPOSE int truncate(const char* path, off_t size) noexcept {
  return tell(real.truncate(path, size), AT_FDCWD, path, Touch::kWritten);
}

MISHAP_INTERPOSE int truncate64(const char* path, off64_t size) noexcept {
  return tell(real.truncate64(path, size), AT_FDCWD, path, Touch::kWritten);
}

MISHAP_INTERPOSE int ftruncate(int descriptor, off_t size) noexcept {
  const int result = real.ftruncate(descriptor, size);
  tell_written(result, descriptor);
  return result;
}

MISHAP_INTERPOSE int ftruncate64(int descriptor, off64_t size) noexcept {
  const int result = real.ftruncate64(descriptor, size);
  tell_written(result, descriptor);
  return result;
}

MISHAP_INTERPOSE int link(const char* from, const char* to) noexcept {
  return tell(real.link(from, to), AT_FDCWD, to, Touch::kCreated);
}

MISHAP_INTERPOSE int linkat(int from_folder, const char* from, int to_folder,
                            const char* to, int flags) noexcept {
  return tell(real.linkat(from_folder, from, to_folder, to, flags), to_folder,
              to, Touch::kCreated);
}

MISHAP_INTERPOSE int symlink(const char* from, const char* to) noexcept {
  return tell(real.symlink(from, to), AT_FDCWD, to, Touch::kCreated);
}

MISHAP_INTERPOSE int symlinkat(const char* from, int folder,
                               const char* to) noexcept {
  return tell(real.symlinkat(from, folder, to), folder, to, Touch::kCreated);
}

MISHAP_INTERPOSE int dup2(int from, int to) noexcept {
  tell_replaced(to);
  return real.dup2(from, to);
}

MISHAP_INTERPOSE int dup3(int from, int to, int flags) noexcept {
  tell_replaced(to);
  return real.dup3(from, to, flags);
}
