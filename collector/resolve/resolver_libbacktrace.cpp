#include <backtrace.h>
#include <mishap/collector/resolve/backend.h>

#include <exception>
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

}  // namespace

std::vector<Frame> look_up(std::uintptr_t address, std::size_t module,
                           NameCache& cache) {
  backtrace_state* state = state_for(module);
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

}  // namespace mishap::collector::detail
