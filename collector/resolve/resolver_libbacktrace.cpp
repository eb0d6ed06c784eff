#include <backtrace.h>
#include <elf.h>
#include <link.h>
#include <mishap/collector/resolve/backend.h>

#include <exception>
#include <fstream>
#include <map>
#include <string>
#include <utility>

namespace mishap::collector::detail {

const std::string_view kBackendName = "libbacktrace";

namespace {

struct Query {
  NameCache& cache;
  std::vector<Frame> frames;
  // An exception must not pass through libbacktrace's C frames.
  std::exception_ptr failure;
};

void ignore_error(void*, const char*, int) {}

// A state lists the loaded modules once and cannot be freed, so a new one is
// made only for an address in a module that the last one cannot know.
backtrace_state* state_for(std::size_t module) {
  static backtrace_state* state = nullptr;
  static std::size_t known_modules = 0;
  if (module >= known_modules) {
    refresh_modules();
    known_modules = module_count();
    state = backtrace_create_state(nullptr, 0, ignore_error, nullptr);
  }
  return state;
}

int add_frame(void* data, std::uintptr_t, const char* file, int line,
              const char* function) {
  auto& query = *static_cast<Query*>(data);
  if (file == nullptr && function == nullptr) {
    return 0;
  }
  try {
    Frame frame;
    frame.file = query.cache.intern(file == nullptr ? "" : file);
    frame.line = line;
    if (function != nullptr) {
      frame.symbol = query.cache.intern(function);
      frame.function = query.cache.readable(function);
    }
    query.frames.push_back(frame);
  } catch (...) {
    query.failure = std::current_exception();
    return 1;
  }
  return 0;
}

// The symbol table knows the mangled name of the function that holds the code;
// debug information has but the bare name of one with internal linkage.
void name_outermost(void* data, std::uintptr_t, const char* symbol,
                    std::uintptr_t, std::uintptr_t) {
  auto& query = *static_cast<Query*>(data);
  if (symbol == nullptr) {
    return;
  }
  try {
    if (query.frames.empty()) {
      query.frames.emplace_back();
    }
    query.frames.back().symbol = query.cache.intern(symbol);
    query.frames.back().function = query.cache.readable(symbol);
  } catch (...) {
    query.failure = std::current_exception();
  }
}

std::vector<Frame> ask(backtrace_state* state, std::uintptr_t address,
                       NameCache& cache) {
  if (state == nullptr) {
    return {};
  }
  Query query{cache, {}, nullptr};
  backtrace_pcinfo(state, address, add_frame, ignore_error, &query);
  if (!query.failure) {
    backtrace_syminfo(state, address, name_outermost, ignore_error, &query);
  }
  if (query.failure) {
    std::rethrow_exception(query.failure);
  }
  for (std::size_t i = 0; i + 1 < query.frames.size(); ++i) {
    query.frames[i].inlined = true;
  }
  return std::move(query.frames);
}

int tell_base(dl_phdr_info* info, std::size_t, void* base) {
  *static_cast<std::uintptr_t*>(base) = info->dlpi_addr;
  return 1;
}

// libbacktrace takes the file for this process's executable: code that can be
// moved is where that one lies.
std::uintptr_t base_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  ElfW(Ehdr) header{};
  file.read(reinterpret_cast<char*>(&header), sizeof(header));
  std::uintptr_t base = 0;
  if (file && header.e_type == ET_DYN) {
    dl_iterate_phdr(tell_base, &base);
  }
  return base;
}

}  // namespace

std::vector<Frame> look_up(std::uintptr_t address, std::size_t module,
                           NameCache& cache) {
  return ask(state_for(module), address, cache);
}

std::vector<Frame> look_up_in_file(const std::string& path,
                                   std::uintptr_t offset, NameCache& cache) {
  struct File {
    std::string path;
    std::uintptr_t base = 0;
    backtrace_state* state = nullptr;
  };
  // Never freed: a state refers to its path, and cannot be freed itself.
  static auto* const files = new std::map<std::string, File>;
  const auto [entry, is_new] = files->try_emplace(path);
  File& file = entry->second;
  if (is_new) {
    file.path = path;
    file.base = base_of(path);
    file.state =
        backtrace_create_state(file.path.c_str(), 0, ignore_error, nullptr);
  }
  return ask(file.state, file.base + offset, cache);
}

}  // namespace mishap::collector::detail
