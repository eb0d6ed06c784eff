#include <dlfcn.h>
#include <mishap/trainer/harness/cli/debug_files.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

namespace mishap::cli {
namespace {

// libdebuginfod's own interface. Loaded when it is needed: it brings libcurl
// with it, and hardly anybody has a server.
struct Library {
  using Client = void;
  using Begin = Client* (*)();
  using Find = int (*)(Client*, const unsigned char* build_id, int size,
                       char** path);
  using End = void (*)(Client*);

  static const Library* load() {
    static const std::unique_ptr<Library> library = open();
    return library.get();
  }

  Begin begin;
  Find find;
  End end;

 private:
  static std::unique_ptr<Library> open() {
    void* handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return nullptr;
    auto library = std::make_unique<Library>();
    library->begin = reinterpret_cast<Begin>(dlsym(handle, "debuginfod_begin"));
    library->find =
        reinterpret_cast<Find>(dlsym(handle, "debuginfod_find_debuginfo"));
    library->end = reinterpret_cast<End>(dlsym(handle, "debuginfod_end"));
    const bool is_complete = library->begin != nullptr &&
                             library->find != nullptr &&
                             library->end != nullptr;
    return is_complete ? std::move(library) : nullptr;
  }
};

}  // namespace

Debuginfod ask_debuginfod(const std::string& build_id) {
  const char* urls = std::getenv("DEBUGINFOD_URLS");
  if (urls == nullptr || *urls == '\0') return {};
  const Library* library = Library::load();
  if (library == nullptr) return {{}, ELIBACC};
  Library::Client* client = library->begin();
  if (client == nullptr) return {{}, ENOMEM};
  char* path = nullptr;
  // Size 0 says that the build-id is text.
  const int file = library->find(
      client, reinterpret_cast<const unsigned char*>(build_id.c_str()), 0,
      &path);
  Debuginfod answer;
  if (file >= 0) {
    close(file);
    answer.path = path == nullptr ? "" : path;
  } else {
    answer.error = -file;
  }
  std::free(path);
  library->end(client);
  return answer;
}

}  // namespace mishap::cli
